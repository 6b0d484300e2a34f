import type { AtomPerson } from '../../api/event.ts';
import type { UserRecord } from '../../api/user.ts';
import { builder } from '../engine/builder.ts';
import { asObject, asText, siteOrNull, textOrNull, urlOrNull } from './decode.ts';
import { sourceIdOf } from './global-id.ts';
import { Node, referenceOf, identity } from './node.ts';

/** A person, from whichever answer: v2 and film records as they are, Atom persons put into the same words. */
export interface UserShape extends UserRecord {
  /** Only Atom tells it. */
  homepage?: string;
}

export const User = builder.objectRef<UserShape>('User').implement({
  description:
    'A person, or an organisation. No operation reads people: what the answer that led here does not tell is null, and costs no call.',
  interfaces: [Node],
  isReference: true,
  nodeOf: referenceOf,
  fields: (t) => ({
    ...identity(t, 'User'),
    uid: t.reads('uid', textOrNull, 'The name in addresses, chosen by its owner; may equal the id. Null when unknown.'),
    name: t.reads('name', textOrNull, 'As shown to others; `[已注销]` for people who have left. Null when unknown.'),
    signature: t.reads('signature', textOrNull, 'A line of their own. Null when empty or unknown.'),
    bio: t.reads('desc', textOrNull, 'What they say of themselves, `desc` upstream. Null when empty or unknown.'),
    avatarUrl: t.reads(['avatar', 'large_avatar'], urlOrNull, 'Their picture. Null when unknown.'),
    webUrl: t.reads('alt', urlOrNull, 'Their page. Null when unknown.'),
    homepageUrl: t.reads(
      'homepage',
      siteOrNull,
      'A site of their own. Told of participants and wishers of events only, null elsewhere.',
    ),
    isSite: t.boolean({
      description:
        'True for an organisation, which may publish events; its shelves, notes and events are empty, and cost no call.',
      needs: ['type'],
      resolve: isSite,
    }),
  }),
});

builder.queryField('user', (t) =>
  t.field({
    type: User,
    nullable: true,
    description:
      'A person by id or uid, as a way to their shelf, tags, annotations, notes and events. Costs no call, so whether there is one is not looked up.',
    args: { id: t.arg.id({ required: true, description: 'Global id, bare id, or uid.' }) },
    resolve: (_, { id }) => ({ id: sourceIdOf('User', id) }),
  }),
);

/** What the edges of a person are read from. */
export const userEdgeNames = ['id', 'type'] as const;

/** An organisation keeps no shelf and no diary. */
export function isSite({ type }: Pick<UserShape, 'type'>): boolean {
  return type === 'site';
}

/** An Atom person in the words of a user; null for one that no id leads to. */
export function atomUser(person: AtomPerson | null | undefined): UserShape | null {
  const { id, uid, name, type, content, links, location } = asObject(person);
  if (!asText(id)) return null;
  const { alternate, icon, homepage } = asObject(links);
  const { id: loc_id, name: loc_name } = asObject(location);
  // What is absent is unknown: a member holding undefined would stand for a known nothing.
  const user: UserShape = { id: id! };
  if (uid !== undefined) user.uid = uid;
  if (name !== undefined) user.name = name;
  if (type !== undefined) user.type = type;
  if (content !== undefined) user.desc = content;
  if (alternate !== undefined) user.alt = alternate;
  if (icon !== undefined) user.avatar = icon;
  if (homepage !== undefined) user.homepage = homepage;
  if (loc_id !== undefined) user.loc_id = loc_id;
  if (loc_name !== undefined) user.loc_name = loc_name;
  return user;
}
