import { present } from '../../lib/objects.ts';
import { type AtomPerson, type EventFeed, eventEndpoints } from '../../api/event.ts';
import { type UserRecord, personWithin } from '../../api/user.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, asText, decoder, idText, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { globalId, isSourceId, sourceIdOf } from '../../engine/values/global-id.ts';
import { type FieldBuilder, Node, idLike, identity, queryReference } from '../../engine/fields/node.ts';
import { WebPage } from './web-page.ts';

/** A person from any response: v2 and film records as they are, Atom persons with the same member names. */
export interface UserShape extends UserRecord {
  /** Returned by Atom only. */
  homepage?: string;
  /** The id of a person whose `id` is a uid, once a response has it. Calls keep the uid, so that none is made twice. */
  own_id?: string;
}

/** The members that the author of a feed has. */
export const personMembers = ['name', 'avatar', 'alt'] as const;

const unknown = { nullIf: 'the service names none' };

/** Who creates events. */
export const Actor = builder.interfaceRef<UserShape>('Actor').implement({
  description: 'A person or an organisation: `__typename` says which.',
  interfaces: [Node, WebPage],
  fields: (t) => ({
    sourceId: t.id({ nullable: true, description: 'The id in the service. Null only beside an error.' }),
    name: t.string({ nullable: true, description: 'The display name. Null if the service names none.' }),
    avatarUrl: t.field({ type: 'URL', nullable: true, description: 'The picture. Null if the service names none.' }),
  }),
});

/** The fields of people and of organisations. */
const actorFields = (t: FieldBuilder<UserShape>) => ({
  name: t.reads('name', textOrNull, 'The display name; `[已注销]` for people who have left.', unknown),
  avatarUrl: t.reads(['avatar', 'large_avatar'], urlOrNull, 'The picture.', unknown),
  webUrl: t.reads('alt', urlOrNull, 'The web page.', unknown),
});

export const User = builder.objectRef<UserShape>('User').implement({
  noun: 'person',
  description:
    'A person, as every response names them. What only some responses say of a person is a field of what the person wrote, such as `FilmReview.authorSignature`. ' +
    'If only the id is known, `name`, `avatarUrl` and `webUrl` cost one call, or none if `events` or `annotations` of the person are selected too and name the person.',
  interfaces: [Node, Actor, WebPage],
  isReference: true,
  record: {
    endpoint: eventEndpoints.ofUser,
    input: (key) => ({ id: userOf(key).id, 'max-results': 1 }),
    members: personMembers,
    keyOf,
    keyMembers: ['id', 'own_id'],
    read: (feed: EventFeed, key) => ({ ...userOf(key), ...authorOfFeed(feed, userOf(key)) }),
  },
  nodeOf: (key) => (isSourceId(key) ? userOf(key) : null),
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque. The id of an organisation differs from that of a person.',
      needs: ['id', 'own_id', 'type'],
      resolve: (user) => globalId('User', keyOf(user)),
    }),
    sourceId: t.reads(['own_id', 'id'], idText, 'The id in the service.', { upstream: '`id`' }),
    ...actorFields(t),
    isSite: t.computed({
      type: 'Boolean',
      description:
        'True for an organisation that wrote something as a person. Its collections, tags, annotations and notes are empty, without a call.',
      needs: ['type'],
      resolve: isSite,
    }),
  }),
});

export const Organization = builder.objectRef<UserShape>('Organization').implement({
  noun: 'organisation',
  description:
    'An organisation or a band that publishes events. If only the id is known, `name`, `avatarUrl` and `webUrl` cost one call, ' +
    'or none if `events` are selected too and name it.',
  interfaces: [Node, Actor, WebPage],
  isReference: true,
  record: {
    endpoint: eventEndpoints.ofUser,
    input: (id) => ({ id, 'max-results': 1 }),
    members: personMembers,
    read: (feed: EventFeed, id) => ({ ...siteOf(id), ...authorOfFeed(feed, siteOf(id)) }),
  },
  nodeOf: (key) => (isSourceId(key) ? siteOf(key) : null),
  fields: (t) => ({ ...identity(t, 'Organization'), ...actorFields(t) }),
});

queryReference(
  Organization,
  'An organisation by id. Makes no call of its own except for `name`, `avatarUrl` and `webUrl`.',
  idLike('site-1'),
  siteOf,
);
queryReference(
  User,
  'A person by id or uid, for the shelf, tags, annotations, notes and events of that person. Makes no call of its own except for `name`, `avatarUrl` and `webUrl`.',
  idLike('alice', ', or uid'),
  userOf,
);

/** Organisations have ids of their own, which people may have too. */
const SITE = 'site~';

/** The key of a person in the global id. An organisation may have the id of a person. */
function keyOf(user: Pick<UserShape, 'id' | 'own_id' | 'type'>): string {
  return isSite(user) ? `${SITE}${user.id}` : asText(user.own_id ?? user.id);
}

/** The handle behind the key of a user's global id. */
function userOf(key: string): UserShape {
  return key.startsWith(SITE) ? { id: key.slice(SITE.length), type: 'site' } : { id: key };
}

/** The handle of an organisation. */
function siteOf(id: string): UserShape {
  return { id, type: 'site' };
}

/** The id or uid of a user whom a caller named by a global or bare id. */
export const userIdOf = (id: string, argument: string): string => userOf(sourceIdOf('User', id, argument)).id;

/** The names of a person that the connections of that person read. */
export const userEdgeNames = ['id', 'type'] as const;

/** An organisation has no shelf and no notes. */
export function isSite({ type }: Pick<UserShape, 'type'>): boolean {
  return type === 'site';
}

/** A person or an organisation that was asked for. */
type Asked = Pick<UserShape, 'id' | 'type'>;

/** The author of the feed of a person or an organisation; null if the service does not say, or names the other kind. */
export function authorOfFeed({ author }: EventFeed, asked: Asked): Partial<UserShape> | null {
  const { name = '', avatar = '', alt = '' } = atomUser(author) ?? {};
  return providedPerson({ ...atomUser(author), name, avatar, alt }, asked);
}

/** What a response tells of a person who was asked for; of one asked for by a uid, also the id. Null if it tells of nobody, or of the other kind. */
export function providedPerson(person: Partial<UserShape> | null | undefined, asked: Asked): Partial<UserShape> | null {
  const { id, type, ...shown } = asObject(person);
  if (!asText(id) || isSite({ type }) !== isSite(asked)) return null;
  return isNumber(asked.id) || !isNumber(asText(id)) ? shown : { ...shown, own_id: asText(id) };
}

export const isNumber = (id: string): boolean => /^\d+$/.test(id);

/** For a person beside what the person wrote or created. */
export const author = { representation: personWithin };

/** What such a response tells of the person beyond the members of every response. */
const inside = (member: 'uid' | 'signature', nullIf: string) =>
  decoder('String', (person) => textOrNull.decode(asObject(person as UserRecord | null)[member]), {
    nullIf,
    inside: member,
  });
export const authorUid = inside('uid', 'the service names none');
export const authorSignature = inside('signature', 'the service has none');
/** Their descriptions. */
export const UID = 'The name of the author in URLs, chosen by the author; may equal the id.';
export const SIGNATURE = 'The motto of the author, one line.';

/** The person or organisation of an Atom response, with the name of its type; null without an id. */
export function actorOf(person: AtomPerson | null | undefined): UserShape | null {
  const actor = atomUser(person);
  return actor && Object.assign(actor, { __typename: isSite(actor) ? 'Organization' : 'User' });
}
export const actorOrNull = decoder(Actor, (person) => actorOf(person as AtomPerson | null), {
  nullIf: 'the service names none',
});

/** An Atom person with the member names of a user; null without an id. */
export function atomUser(person: AtomPerson | null | undefined): UserShape | null {
  const { id, uid, name, type, content, signature, links, location } = asObject(person);
  if (!asText(id)) return null;
  const { alternate, icon, homepage } = asObject(links);
  const { id: loc_id, name: loc_name } = asObject(location);
  const more = { uid, name, type, desc: content, signature, alt: alternate, avatar: icon, homepage, loc_id, loc_name };
  // A member with the value undefined would be known to be empty.
  return { id: id!, ...present(more) };
}
