/** Which members of the upstream record each field is read from. The law is the interface: this table is not derived from `src`. */
import { GraphQLError, getNamedType, isLeafType } from 'graphql';
import { expect, test } from 'vitest';
import { allFields, fieldRule, typeRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';

/** The fields that are not read from the one member of their own name, in camel or in snake case: name: members. */
const sources: Readonly<Record<string, string>> = {
  Annotation: `
    abstractPhotoUrl: abstract_photo; author: author_user author_id; authorCollection: author_id author_user book_id;
    authorUid: author_user; blocks: content photos hasmath; book: book book_id; content: id content; hasMath: hasmath;
    isPrivate: privacy; lastPhotoNumber: last_photo; page: page_no; pictures: photos; privacyLevel: privacy;
    revision: content page_no chapter privacy; sourceId: id; viewerCanDelete: author_user author_id;
    viewerCanUpdate: author_user author_id; viewerDidAuthor: author_user author_id`,
  Book: `
    alternativeTitle: alt_title; annotations: id; authors: author; collection: id; cover: images image;
    ebook: ebook_url ebook_price; originalTitle: origin_title; publishedOn: pubdate; sourceId: id;
    tableOfContents: catalog; tags: id tags; tagsCount: id; translators: translator;
    viewerCollection: id current_user_collection; webUrl: alt`,
  BookTag: 'books: name title; name: name title',
  BoxOfficeChart: 'dateRange: date',
  BoxOfficeEntry: 'grossUsd: box; isNew: new',
  Celebrity: `
    alternativeNames: aka; alternativeNamesEn: aka_en; id: id name; photos: id photos; portrait: avatars; sourceId: id;
    webUrl: alt; websiteUrl: website; works: id works`,
  City: 'events: id; inTheaters: id name; sourceId: id',
  Collection: `
    book: book book_id; id: user_id book_id; isPrivate: id user_id book_id updated; revision: status rating tags comment;
    sourceId: user_id book_id; tagNames: tags; updatedAt: updated; user: user_id; viewerCanDelete: user_id;
    viewerCanUpdate: user_id; viewerDidAuthor: user_id`,
  Ebook: 'price: ebook_price; url: ebook_url',
  Event: `
    city: location; coordinates: point; endsAt: endTime; imageUrl: links; interestedPeople: id;
    interestedPeopleCount: wishers; isPast: endTime; organizer: author; participants: id;
    participantsCount: participants; place: where;
    revision: title content startTime endTime where invite_only can_invite term; sourceId: id; startsAt: startTime;
    type: term; typeTerm: term; viewerCanDelete: endTime author; viewerCanUpdate: endTime author;
    viewerDidAuthor: endTime author; viewerIsOrganizer: endTime author; viewerRelation: status; webUrl: links`,
  FilmComment: 'authorSignature: author; authorUid: author; sourceId: id; subject: subject_id',
  FilmReview: `
    attribution: alt; authorSignature: author; authorUid: author; sourceId: id; subject: subject_id; webUrl: alt`,
  FilmTag: 'films: name',
  Note: `
    blocks: content photos; comments: id; commentsCount: comments_count comment_count; content: id content;
    createdAt: publish_time; likesCount: liked_count; noteComment: id; pictures: photos; recommendationsCount: recs_count;
    revision: title content privacy can_reply; sourceId: id; updatedAt: update_time; viewerCanDelete: author;
    viewerCanUpdate: author; viewerDidAuthor: author; webUrl: alt`,
  NoteComment: `
    authorUid: author; createdAt: created; id: id note_id; note: note_id; sourceId: id; viewerCanDelete: author;
    viewerCanUpdate: author; viewerDidAuthor: author`,
  Organization: 'avatarUrl: avatar large_avatar; events: id type; sourceId: id; webUrl: alt',
  Photo: `
    album: album_id album_title album_url; authorSignature: author; authorUid: author; celebrity: celebrity_id;
    coverUrl: cover; description: desc; iconUrl: icon; imageUrl: image; next: subject_id page celebrity_id next_photo;
    previous: subject_id page celebrity_id prev_photo; sourceId: id; subject: subject_id; thumbUrl: thumb; webUrl: alt`,
  PhotoAlbum: 'title: album_title; webUrl: album_url',
  Review: `
    authorUid: author; commentsCount: comments; createdAt: published; sourceId: id; updatedAt: updated;
    usefulCount: votes; uselessCount: useless; webUrl: alt`,
  Series: 'books: id; sourceId: id',
  Subject: `
    alternativeTitles: aka; attribution: alt; comments: id; doingCount: do_count subtype; genreTags: genres;
    mainlandReleaseDate: mainland_pubdate; miniSiteUrl: service_site douban_site; photos: id photos; poster: images;
    rating: rating ratings_count alt; releaseDates: pubdates; reviews: id popular_reviews; sourceId: id;
    subjectType: subtype; webUrl: alt; websiteUrl: website`,
  User: `
    annotationChanges: id type; annotations: id type; avatarUrl: avatar large_avatar; bookCollection: id type;
    bookCollections: id type; bookTags: id type; events: id type; id: id own_id type; isSite: type;
    noteChanges: id type; notes: id type; shelfChanges: id type; sourceId: own_id id; webUrl: alt`,
  PageInfo: 'hasNextPage: hasNext',
  UserBookTag: 'books: name title; collections: name title owner; name: name title',
};
const listed = new Map(
  Object.entries(sources).flatMap(([type, fields]) =>
    fields.split(';').map((field): [string, string[]] => {
      const [name = '', members = ''] = field.trim().split(': ');
      return [`${type}.${name}`, members.split(' ').sort()];
    }),
  ),
);
type Declared = ReturnType<typeof fieldRule> & { resolve?: (parent: object, args: object, context: object) => unknown };
const inSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const declared = [...allFields(schema)].flatMap(({ type, field, coordinate }) => {
  const { needs = [], needsBelow = {}, idIn, from = [], embedded } = fieldRule(field);
  const members = new Set([...needs, ...Object.values(needsBelow).flat(), ...from]);
  for (const each of [idIn, embedded?.member]) if (each !== undefined) members.add(each);
  if (members.size === 0) return [];
  const own = [members.has(field.name) ? field.name : inSnakeCase(field.name)];
  const expected = listed.get(coordinate) ?? (field.name === 'totalCount' ? ['total'] : own);
  const { resolve } = fieldRule(field) as Declared;
  return [{ coordinate, field, type, resolve, members: [...members].sort(), expected }];
});

test.each(declared)('$coordinate is read from $expected', ({ members, expected }) => {
  expect(members).toEqual(expected);
});

test('the table names fields that are read from a record, and no other', () => {
  const known = new Set(declared.map(({ coordinate }) => coordinate));
  expect([...listed.keys()].filter((coordinate) => !known.has(coordinate))).toEqual([]);
});

/** One number in each form that a decoder may read. */
const formsOf = (number: number): unknown[] => [
  `${number}`,
  number,
  `https://catalog.example/${number}`,
  [`${number}`],
  {
    name: `${number}`,
    uid: `${number}`,
    image: `https://a.example/${number}`,
    alternate: `https://b.example/${number}`,
  },
];

/** Members of whose values a field tells only which of a few it is, or what follows from it: they have tests of their own. */
const holds = declared.filter(
  ({ field, members, type, resolve }) =>
    members.length === 1 &&
    typeRule(type).record &&
    resolve &&
    !fieldRule(field).endpoint &&
    ['String', 'Int', 'Float', 'ID', 'URL'].includes(getNamedType(field.type).name) &&
    isLeafType(getNamedType(field.type)),
);

test.each(holds)('$coordinate shows the value of $members among different ones', ({ type, resolve, expected }) => {
  const members = [...new Set([...Object.keys(typeRule(type).record?.members ?? {}), ...expected])];
  const shown = [0, 1, 2, 3, 4].map((form) => {
    const record = Object.fromEntries(members.map((name, at) => [name, formsOf(1_000 + at)[form]]));
    try {
      return JSON.stringify(resolve?.(record, {}, {})) ?? '';
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return '';
    }
  });
  expect(shown.join(' ')).toContain(`${1_000 + members.indexOf(expected[0]!)}`);
});
