import type { ImageSet } from '../../api/book.ts';
import { builder } from '../engine/builder.ts';
import { asObject, urlOrNull } from './decode.ts';

export const Image = builder.objectRef<ImageSet>('Image').implement({
  description: 'A picture in three sizes; each is null where the service has none.',
  fields: (t) => ({
    small: t.reads('small', urlOrNull, 'The smallest, for lists.'),
    medium: t.reads('medium', urlOrNull, 'The size between, as records show it.'),
    large: t.reads('large', urlOrNull, 'The largest there is.'),
  }),
});

/** Three sizes from a member that should hold them; those that are not addresses are told as null by the type. */
export const imageOf = (images: ImageSet | null | undefined): ImageSet => asObject(images);
