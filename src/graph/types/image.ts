import type { ImageSet } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, decoder, urlOrNull } from '../../engine/values/decode.ts';

export const Image = builder.objectRef<ImageSet>('Image').implement({
  description: 'A picture in three sizes.',
  fields: (t) => ({
    small: t.reads('small', urlOrNull, 'The smallest size, for lists.'),
    medium: t.reads('medium', urlOrNull, 'The middle size, for pages.'),
    large: t.reads('large', urlOrNull, 'The largest size.'),
  }),
});

/** The three sizes in a member; the type returns null for those that are not URLs. */
export const image = decoder(Image, (images): ImageSet => asObject(images as ImageSet | null));
