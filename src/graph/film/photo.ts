import {
  LIST_COUNT_DEFAULT,
  type PhotoRecord,
  RECORD_PHOTOS,
  filmEndpoints,
  photoMembers,
  simplePhoto,
} from '../../api/film.ts';
import { isPlainObject, listIn, withMembers } from '../../lib/objects.ts';
import { withThrowingMembers } from '../../api/record-source.ts';
import { builder } from '../../engine/builder.ts';
import { type ClientCode, messageOf } from '../../engine/errors/codes.ts';
import { badInput } from '../../engine/errors/to-client-error.ts';
import { asText, countOrZero, localDateTime, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { isSourceId } from '../../engine/values/global-id.ts';
import { identity } from '../../engine/fields/node.ts';
import { SIGNATURE, UID, User, author, authorSignature, authorUid } from '../types/user.ts';
import { WebPage } from '../types/web-page.ts';
import { Celebrity, besidePerson } from './celebrity.ts';
import { Subject, besideFilm, namedSubject } from './subject.ts';

/** How many photos of a list are searched for the neighbours of a photo. */
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
  /** The id of the person in whose list it is. */
  celebrity_id?: string | null;
}

/** What a photo of a record has: its list tells whose it is. */
const listedPhoto = { members: [...simplePhoto.members, 'celebrity_id'] };

/** The photos of a film, or of the person with this id, each with its page. */
function photosIn(photos: unknown, person: string | null | undefined = null): (PhotoShape | null)[] {
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

const [, ...unknownMembers] = photoMembers;

/** A photo that no list shows: only its id is known, and in whose list it is. */
const unlistedPhoto = (id: string, celebrity_id: string | null | undefined): PhotoShape =>
  withThrowingMembers({ id, celebrity_id }, unknownMembers, () =>
    badInput(messageOf(NOT_LISTED)!, { code: NOT_LISTED }),
  ) as unknown as PhotoShape;
const NOT_LISTED: ClientCode = 'PHOTO_NOT_LISTED';

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
  const neighbour = (member: 'next_photo' | 'prev_photo', description: string, end: string) => {
    const idIn = (photo: Partial<PhotoShape>) => asText(photo[member]);
    const among = (photos: readonly (PhotoShape | null)[] = [], photo: Partial<PhotoShape>) =>
      photos.find((other): other is PhotoShape => asText(other?.id) === idIn(photo));
    return t.call({
      type: Photo,
      description:
        `${description} Fields other than the id cost one call for the first ${NEIGHBOURS} photos of the film or person, unless it is in the page of this photo, ` +
        'and have the error PHOTO_NOT_LISTED if it is not among them.',
      nullIf: `this photo is the ${end}`,
      endpoint: (_, photo) => (asText(photo?.celebrity_id) ? filmEndpoints.celebrityPhotos : filmEndpoints.photos),
      endpoints: [filmEndpoints.photos, filmEndpoints.celebrityPhotos],
      from: ['subject_id', 'page', 'celebrity_id', member],
      // The id stands in for the list, as long as nothing else is selected.
      embedded: { member, representation: { members: ['id'] } },
      atHand: (photo) => among(photo.page, photo),
      input: ({ celebrity_id, subject_id }) => ({
        id: asText(celebrity_id ?? subject_id),
        start: 0,
        count: NEIGHBOURS,
      }),
      isUnavailable: (photo) => !isSourceId(idIn(photo)),
      resolve: ({ photos }, _, photo) =>
        among(photosIn(photos, photo.celebrity_id), photo) ?? unlistedPhoto(idIn(photo), photo.celebrity_id),
    });
  };
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
    provides: besidePerson,
  }),
);
