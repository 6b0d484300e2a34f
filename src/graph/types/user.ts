import { present } from '../../lib/objects.ts';
import { wholeRepresentation } from '../../api/endpoint.ts';
import { type AtomPerson, type EventFeed, eventEndpoints } from '../../api/event.ts';
import type { UserRecord } from '../../api/user.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, asText, decoder, idText, siteOrNull, textOrNull, urlOrNull } from '../../engine/values/decode.ts';
import { globalId, isSourceId, sourceIdOf } from '../../engine/values/global-id.ts';
import { Node, queryReference } from '../../engine/fields/node.ts';

/** A person from any response: v2 and film records as they are, Atom persons with the same member names. */
export interface UserShape extends UserRecord {
  /** Returned by Atom only. */
  homepage?: string;
}

/** The members that the author of a feed has. */
export const personMembers = ['name', 'avatar', 'alt'] as const;

const unknown = { nullIf: 'it is unknown' };
const emptyOrUnknown = { nullIf: 'there is none, or it is unknown' };

export const User = builder.objectRef<UserShape>('User').implement({
  description:
    'A person or an organisation. The service has no operation that returns people, so fields that the response with this person does not contain are null, without a call. ' +
    'If only the id is known, `name`, `avatarUrl` and `webUrl` cost one call, or none if `events` or `annotations` of the person are selected too and name the person.',
  interfaces: [Node],
  isReference: true,
  record: {
    endpoint: eventEndpoints.ofUser,
    input: (id) => ({ id, 'max-results': 1 }),
    members: personMembers,
    // An organisation may have the id of a person.
    keyOf: (user: UserShape) => (isSite(user) ? null : asText(user.id)),
    read: (feed: EventFeed, id) => ({ ...authorOfFeed(feed), id }),
  },
  nodeOf: (key) => (isSourceId(key) ? userOf(key) : null),
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque. The id of an organisation differs from that of a person.',
      needs: ['id', 'type'],
      resolve: (user) => globalId('User', isSite(user) ? `${SITE}${user.id}` : asText(user.id)),
    }),
    sourceId: t.reads('id', idText, 'The id in the service.'),
    uid: t.reads('uid', textOrNull, 'The name in URLs, chosen by the person; may equal the id.', unknown),
    name: t.reads('name', textOrNull, 'The display name; `[已注销]` for people who have left.', unknown),
    signature: t.reads('signature', textOrNull, 'A motto: one line that the person chose.', emptyOrUnknown),
    bio: t.reads('desc', textOrNull, 'The self-description, `desc` upstream.', emptyOrUnknown),
    avatarUrl: t.reads(
      ['avatar', 'large_avatar'],
      urlOrNull,
      'The picture, `avatar` or `large_avatar` upstream.',
      unknown,
    ),
    webUrl: t.reads('alt', urlOrNull, 'The page of the person, `alt` upstream.', unknown),
    homepageUrl: t.reads(
      'homepage',
      siteOrNull,
      'The web site of the person. The service returns it only for participants and wishers of events.',
      emptyOrUnknown,
    ),
    isSite: t.computed({
      type: 'Boolean',
      description:
        'True for an organisation, which may publish events. Its collections, tags, annotations and notes are empty, without a call.',
      needs: ['type'],
      resolve: isSite,
    }),
  }),
});

queryReference(
  User,
  'A person by id or uid, for the shelf, tags, annotations, notes and events of that person. Does not check that the person exists, and makes no call except for `name`, `avatarUrl` and `webUrl`.',
  'Global id, bare id, or uid.',
  userOf,
);

/** Organisations have ids of their own, which people may have too. */
const SITE = 'site~';

/** The handle behind the key of a user's global id. */
function userOf(key: string): UserShape {
  return key.startsWith(SITE) ? { id: key.slice(SITE.length), type: 'site' } : { id: key };
}

/** The id or uid of a user whom a caller named by a global or bare id. */
export const userIdOf = (id: string, argument: string): string => userOf(sourceIdOf('User', id, argument)).id;

/** The names of a person that the connections of that person read. */
export const userEdgeNames = ['id', 'type'] as const;

/** An organisation has no shelf and no notes. */
export function isSite({ type }: Pick<UserShape, 'type'>): boolean {
  return type === 'site';
}

/** The person whose feed it is; null if the service does not say, or names an organisation. */
export function authorOfFeed({ author }: EventFeed): Pick<UserShape, (typeof personMembers)[number]> | null {
  const user = atomUser(author);
  if (!user || isSite(user)) return null;
  const { name = '', avatar = '', alt = '' } = user;
  return { name, avatar, alt };
}

/** For fields whose response contains the person: nothing more is loaded. */
export const carried = { representation: wholeRepresentation };

/** An Atom person; null without an id. */
export const personOrNull = decoder(User, (person) => atomUser(person as AtomPerson | null), { nullable: true });

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
