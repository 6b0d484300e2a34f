import {
  LIST_COUNT_DEFAULT,
  type PhotoRecord,
  RECORD_PHOTOS,
  filmEndpoints,
  photoMembers,
  simplePhoto,
} from '../../api/film.ts';
import { isPlainObject, listIn, withMembers } from '../../lib/objects.ts';
import { builder } from '../../engine/builder.ts';
import { asRecords, asText, countOrZero, localDateTime, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { isSourceId } from '../../engine/values/global-id.ts';
import { identity } from '../../engine/fields/node.ts';
import { SIGNATURE, UID, User, author, authorSignature, authorUid } from '../types/user.ts';
import { WebPage } from '../types/web-page.ts';
import { Celebrity } from './celebrity.ts';
import { Subject, besideFilm, namedSubject } from './subject.ts';

/** How many photos of the film are searched for the neighbours of a photo. */
const NEIGHBOURS = 100;

const PhotoAlbum = builder
  .objectRef<Pick<PhotoRecord, 'album_id' | 'album_title' | 'album_url'>>('PhotoAlbum')
  .implement({
    description: 'An album of photos.',
    interfaces: [WebPage],
    fields: (t) => ({
      title: t.reads('album_title', textOrNull, 'The title given by the owner.'),
      webUrl: t.reads('album_url', urlOrNull, 'The web page of the album.'),
    }),
  });

/** A photo knows the page that it came in: its neighbours are often there. */
interface PhotoShape extends PhotoRecord {
  page?: readonly PhotoShape[];
  /** The id of the person in whose list it is: no operation finds what is beyond the page. */
  celebrity_id?: string | null;
}

/** What a photo of a record has: its list tells whose it is. */
const listedPhoto = { members: [...simplePhoto.members, 'celebrity_id'] };

/** The photos of a film, or of the person with this id, each with its page. */
function photosIn(photos: unknown, person: string | null = null): (PhotoShape | null)[] {
  const page: PhotoShape[] = [];
  return (listIn(photos) ?? []).map((photo) => {
    if (!isPlainObject(photo)) return null;
    // The real service writes the id of the person as that of the film.
    const isFilm = person === null || asText(photo.subject_id) !== asText(person);
    const more = { page, celebrity_id: person, ...(isFilm ? {} : { subject_id: null }) };
    const shape = withMembers(photo, more) as unknown as PhotoShape;
    page.push(shape);
    return shape;
  });
}

/** The neighbour in the page of the photo, if it is there. */
function besidePhoto(photo: Partial<PhotoShape>, member: 'next_photo' | 'prev_photo'): PhotoShape | undefined {
  const id = asText(photo[member]);
  return id === '' ? undefined : photo.page?.find((other) => asText(other.id) === id);
}

export const Photo = builder.objectRef<PhotoShape>('Photo').implement({
  description:
    'A photo of a film or of a person; advance and premium tiers. It cannot be requested by its id. ' +
    'The record of the film or person contains the URLs of the first ten; other fields cost one call for the list.',
  interfaces: [WebPage],
  members: photoMembers,
  fields: (t) => ({
    ...identity(t, 'Photo'),
    webUrl: t.reads('alt', urlOrNull, 'The web page of the photo.'),
    iconUrl: t.reads('icon', urlOrNull, 'The image in the smallest size.'),
    imageUrl: t.reads('image', urlOrNull, 'The image in full size.'),
    thumbUrl: t.reads('thumb', urlOrNull, 'The image as a thumbnail.'),
    coverUrl: t.reads('cover', urlOrNull, 'The image in the size of an album cover.'),
    createdAt: t.reads('created_at', localDateTime, 'The time of the upload.'),
    description: t.reads('desc', textOrNull, 'The description by the author.'),
    author: t.record(User, { member: 'author' }, 'The person who uploaded it.', author),
    authorUid: t.reads('author', authorUid, UID),
    authorSignature: t.reads('author', authorSignature, SIGNATURE),
    album: t.computed({
      type: PhotoAlbum,
      nullable: true,
      description: 'The album of the photo.',
      needs: ['album_id', 'album_title', 'album_url'],
      resolve: (photo) => (asText(photo.album_id) ? photo : null),
    }),
    position: t.reads('position', countOrZero, 'The position in the album, in the order of time.'),
    commentsCount: t.reads('comments_count', countOrZero, 'The number of comments.'),
    photosCount: t.reads('photos_count', countOrZero, 'The number of photos in the album.'),
    subject: namedSubject(t),
    celebrity: t.record(
      Celebrity,
      { id: 'celebrity_id' },
      'The person in whose `photos` it is. Makes no call: what is selected is loaded with that person.',
      { nullIf: 'it is in the list of a film' },
    ),
  }),
});

builder.objectFields(Photo, (t) => {
  const neighbour = (member: 'next_photo' | 'prev_photo', description: string, end: string) =>
    t.call({
      type: Photo,
      description: `${description} If it is not in the page of this photo, it costs one call for the first ${NEIGHBOURS} photos of the film.`,
      nullIf: `this photo is the ${end}, or the other is not in the page and not among these ${NEIGHBOURS}; of a person's photos only the page is searched`,
      endpoint: filmEndpoints.photos,
      from: ['subject_id', 'page', 'celebrity_id', member],
      atHand: (photo) => besidePhoto(photo, member),
      input: ({ subject_id }) => ({ id: asText(subject_id), start: 0, count: NEIGHBOURS }),
      isUnavailable: (photo) =>
        !isSourceId(asText(photo[member])) ||
        (!besidePhoto(photo, member) && (asText(photo.celebrity_id) !== '' || !isSourceId(asText(photo.subject_id)))),
      resolve: ({ photos }, _, photo) =>
        asRecords(photos).find(({ id }) => asText(id) === asText(photo[member])) ?? null,
    });
  return {
    next: neighbour('next_photo', 'The next photo of the album.', 'last'),
    previous: neighbour('prev_photo', 'The previous photo of the album.', 'first'),
  };
});

builder.objectField(Subject, 'photos', (t) =>
  t.connection({
    type: Photo,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'The photos, in the order of the service; advance and premium tiers. The record contains the first 10; ' +
      'more cost one call.',
    endpoint: filmEndpoints.photos,
    from: ['id'],
    items: ({ photos }) => photosIn(photos),
    embedded: { member: 'photos', upTo: RECORD_PHOTOS, representation: listedPhoto },
    ...besideFilm,
    nullField: 'celebrity',
  }),
);

builder.objectField(Celebrity, 'photos', (t) =>
  t.connection({
    type: Photo,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'The photos of this person, in the order of the service; advance and premium tiers. On the advance tier the record ' +
      'contains the first 10; more cost one call.',
    endpoint: filmEndpoints.celebrityPhotos,
    from: ['id'],
    input: ({ id }) => ({ id: id ?? '' }),
    isEmpty: ({ id }) => !isSourceId(asText(id)),
    items: ({ photos }, { id }) => photosIn(photos, id),
    embedded: { member: 'photos', upTo: RECORD_PHOTOS, representation: listedPhoto },
    backReference: 'celebrity',
    provides: { members: ['id', 'name', 'alt', 'avatars'], read: ({ celebrity }) => celebrity },
  }),
);
