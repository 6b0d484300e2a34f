import type { ImageSet } from '../../api/book.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, orNull, urlOrNull } from '../../engine/values/decode.ts';

export const Image = builder.objectRef<ImageSet>('Image').implement({
  description: 'A picture in three sizes.',
  fields: (t) => ({
    small: t.reads('small', urlOrNull, 'The smallest size, for lists.'),
    medium: t.reads('medium', urlOrNull, 'The middle size, for pages.'),
    large: t.reads('large', urlOrNull, 'The largest size.'),
  }),
});

/** The three sizes in a member; null if none of them is a URL. */
export const imageOrNull = orNull(Image, (images): ImageSet | null => {
  const sizes: ImageSet = asObject(images as ImageSet | null);
  return [sizes.small, sizes.medium, sizes.large].some((size) => urlOrNull.decode(size) !== null) ? sizes : null;
});
