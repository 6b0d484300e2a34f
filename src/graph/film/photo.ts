import { LIST_COUNT_DEFAULT, type PhotoRecord, RECORD_PHOTOS, filmEndpoints, simplePhoto } from '../../api/film.ts';
import { builder } from '../engine/builder.ts';
import { asRecords, asText, countOrZero, localDateTime, textOrNull, urlOrNull } from '../types/decode.ts';
import { globalId, isSourceId } from '../types/global-id.ts';
import { identity } from '../types/node.ts';
import { authorOf } from './author.ts';
import { Celebrity } from './celebrity.ts';
import { Subject, namedSubject } from './subject.ts';

/** Photos of a film among which the neighbours of a photo are looked for. */
const NEIGHBOURS = 100;

interface Album {
  id: string;
  title: string | undefined;
  url: string | undefined;
}

const PhotoAlbum = builder.objectRef<Album>('PhotoAlbum').implement({
  description: 'An album that photos belong to.',
  fields: (t) => ({
    id: t.id({
      description: 'To tell albums apart; no album can be read by it.',
      resolve: ({ id }) => globalId('PhotoAlbum', id),
    }),
    title: t.string({
      nullable: true,
      description: 'As its owner named it.',
      resolve: ({ title }) => textOrNull.decode(title),
    }),
    webUrl: t.field({
      type: 'URL',
      nullable: true,
      description: 'Its page.',
      resolve: ({ url }) => urlOrNull.decode(url),
    }),
  }),
});

export const Photo = builder.objectRef<PhotoRecord>('Photo').implement({
  description:
    'A photo of a film or of a person; advance and premium tiers. It has an id, but cannot be read by it alone. ' +
    'The first ten of a record tell their addresses; anything else is told by the list, for one call.',
  fields: (t) => ({
    ...identity(t, 'Photo'),
    webUrl: t.reads('alt', urlOrNull, 'Its page.'),
    iconUrl: t.reads('icon', urlOrNull, 'The smallest size.'),
    imageUrl: t.reads('image', urlOrNull, 'The full size.'),
    thumbUrl: t.reads('thumb', urlOrNull, 'The size of a thumbnail.'),
    coverUrl: t.reads('cover', urlOrNull, 'The size of an album cover.'),
    createdAt: t.reads('created_at', localDateTime, 'When it was uploaded.'),
    description: t.reads('desc', textOrNull, 'In the words of its author.'),
    author: authorOf(t, 'Who uploaded it.'),
    album: t.field({
      type: PhotoAlbum,
      nullable: true,
      description: 'The album it belongs to.',
      needs: ['album_id', 'album_title', 'album_url'],
      resolve: ({ album_id, album_title, album_url }) => {
        const id = asText(album_id);
        return id ? { id, title: album_title, url: album_url } : null;
      },
    }),
    position: t.reads('position', countOrZero, 'Its place in the album by time.'),
    commentsCount: t.reads('comments_count', countOrZero, 'How many comments it has.'),
    photosCount: t.reads('photos_count', countOrZero, 'How many photos its album has.'),
    nextPhotoId: t.id({
      nullable: true,
      description: 'The `id` of the next photo of the album; null on the last.',
      needs: ['next_photo'],
      resolve: ({ next_photo }) => photoId(next_photo),
    }),
    previousPhotoId: t.id({
      nullable: true,
      description: 'The `id` of the photo before it in the album; null on the first.',
      needs: ['prev_photo'],
      resolve: ({ prev_photo }) => photoId(prev_photo),
    }),
    subject: namedSubject(t),
  }),
});

builder.objectFields(Photo, (t) => {
  const neighbour = (member: 'next_photo' | 'prev_photo', description: string) =>
    t.call({
      type: Photo,
      description: `${description} Found among the first ${NEIGHBOURS} photos of the film, for one call; null where it is not among them, and for a photo that names no film.`,
      endpoint: filmEndpoints.photos,
      from: ['subject_id', member],
      input: ({ subject_id }) => ({ id: asText(subject_id), start: 0, count: NEIGHBOURS }),
      isUnavailable: (photo) => !isSourceId(asText(photo[member])) || !isSourceId(asText(photo.subject_id)),
      resolve: ({ photos }, _, photo) => asRecords(photos).find(({ id }) => id === photo[member]) ?? null,
    });
  return {
    next: neighbour('next_photo', 'The next photo of the album; null on the last.'),
    previous: neighbour('prev_photo', 'The photo before it in the album; null on the first.'),
  };
});

builder.objectField(Subject, 'photos', (t) =>
  t.connection({
    type: Photo,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'Its photos, in an order of the service; the first 10 come with the record, more cost one call. ' +
      'Advance and premium tiers. `GET /v2/movie/subject/{id}/photos`',
    endpoint: filmEndpoints.photos,
    from: ['id'],
    input: ({ id }) => ({ id }),
    embedded: { member: 'photos', upTo: RECORD_PHOTOS, representation: simplePhoto },
  }),
);

builder.objectField(Celebrity, 'photos', (t) =>
  t.connection({
    type: Photo,
    pageSize: LIST_COUNT_DEFAULT,
    description:
      'Photos of this person, in an order of the service; the first 10 come with the record on the advance tier, ' +
      'more cost one call. Advance and premium tiers. `GET /v2/movie/celebrity/{id}/photos`',
    endpoint: filmEndpoints.celebrityPhotos,
    from: ['id'],
    input: ({ id }) => ({ id: id ?? '' }),
    isEmpty: ({ id }) => !isSourceId(asText(id)),
    embedded: { member: 'photos', upTo: RECORD_PHOTOS, representation: simplePhoto },
    provides: { names: ['id', 'name', 'alt', 'avatars'], read: ({ celebrity }) => celebrity },
  }),
);

function photoId(id: unknown): string | null {
  const key = asText(id);
  return key ? globalId('Photo', key) : null;
}
