/** What a write sends of each flag and each word of its input, on the wire: each value of it, and nothing. */
import {
  type GraphQLArgument,
  type GraphQLInputField,
  GraphQLInputObjectType,
  getNamedType,
  isEnumType,
} from 'graphql';
import { beforeAll, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { readers } from '../../src/atom/media.ts';
import { failing } from '../support/outages.ts';
import { sampleOf } from '../support/optional.ts';
import { service as origin } from '../support/service.ts';

const token = 'demo-alice';
let over: ReturnType<typeof failing>;
let execute: ReturnType<typeof over.facade>;
const bodies: Record<string, unknown>[] = [];
beforeAll(async () => {
  over = failing((await origin()).url);
  execute = over.facade();
  over.begin((_, path, body) => {
    if (typeof body !== 'string') return undefined;
    bodies.push(
      path.startsWith('/v2/') ? Object.fromEntries(new URLSearchParams(body)) : { ...readers.eventDraft(body) },
    );
    return undefined;
  });
});

/** A thing with each flag as it is not by default, and how it is named. */
const content = 'c'.repeat(151);
const event = {
  ...{ title: 't', content, place: 'p', type: 'FILM', inviteOnly: true, canInvite: false },
  ...{ startsAt: '2031-12-18T19:30:00+08:00', endsAt: '2031-12-18T21:30:00+08:00' },
};
const makers = {
  Collection: ['collectBook', { bookId: '1003078', status: 'READ', isPrivate: true }, ''],
  Annotation: ['createAnnotation', { bookId: '1003078', content, isPrivate: true }, 'annotation { id }'],
  Note: ['createNote', { title: 't', content, privacy: 'PRIVATE', canReply: false }, 'note { id }'],
  Event: ['createEvent', event, 'event { id }'],
} as const;
const deletion = 'mutation { deleteCollection(input: { bookId: "1003078" }) { __typename } }';
type Thing = keyof typeof makers;

const wire: Readonly<Record<string, (value: unknown) => Record<string, string>>> = {
  'Collection.isPrivate': (value) => ({ privacy: value ? 'private' : 'public' }),
  'Collection.status': (value) => ({ status: String(value).toLowerCase() }),
  'Annotation.isPrivate': (value) => ({ privacy: value ? 'private' : 'public' }),
  'Note.privacy': (value) => ({ privacy: String(value).toLowerCase() }),
  'Note.canReply': (value) => ({ can_reply: String(value) }),
  'Event.inviteOnly': (value) => ({ invite_only: value ? 'yes' : 'no' }),
  'Event.canInvite': (value) => ({ can_invite: value ? 'yes' : 'no' }),
  'Event.type': (value) => ({ term: expect.stringMatching(new RegExp(`#event\\.${String(value)}$`, 'i')) as string }),
};

const run = async (mutation: string, input: object, selection = '') => {
  const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!`;
  const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { __typename ${selection} } }`;
  const { data, errors } = await execute(query, { token, variables: { input } });
  expect(errors).toBeUndefined();
  return data[mutation];
};

const thingOf = (mutation: string): Thing | undefined =>
  (Object.keys(makers) as Thing[]).find((name) => mutation.endsWith(name) || makers[name][0] === mutation);
const inputOf = (args: readonly GraphQLArgument[]): GraphQLInputField[] => {
  const type = args[0] && getNamedType(args[0].type);
  return type instanceof GraphQLInputObjectType ? Object.values(type.getFields()) : [];
};
const valuesOf = (field: GraphQLInputField): unknown[] => {
  const type = getNamedType(field.type);
  return isEnumType(type) ? sampleOf(type.getValues(), 3).map(({ name }) => name) : [true, false];
};
const flags = Object.values(schema.getMutationType()!.getFields()).flatMap(({ name, args }) =>
  inputOf(args)
    .filter(({ type, name: field }) => {
      const named = getNamedType(type);
      return (named.name === 'Boolean' || isEnumType(named)) && field !== 'onConflict';
    })
    .map((field) => ({ mutation: name, name: field.name, field, thing: thingOf(name) })),
);

test.each(flags)('of $mutation with each value of $name, and without it', async ({ mutation, name, field, thing }) => {
  const [maker, given, selection] = makers[thing!];
  const isNew = maker === mutation;
  const isUpdate = mutation.startsWith('update');
  const isRequired = mutation.startsWith('replace') || (isNew && /status|type/.test(name));
  const remove = () => thing === 'Collection' && execute(deletion, { token });
  await remove();
  const made = isNew ? undefined : await run(maker, given, selection);
  // Without it first: then the thing is as it was made.
  for (const [round, value] of [...(isRequired ? [] : [undefined]), ...valuesOf(field)].entries()) {
    if (isNew) await remove();
    const id = selection ? { id: made?.[selection.split(' ')[0]!].id } : { bookId: '1003078' };
    // An update that changes nothing sends nothing.
    const others = isUpdate ? { [thing === 'Collection' ? 'comment' : 'content']: `${content}${round}` } : given;
    const { bookId: _, ...rest } = others as { bookId?: string };
    await run(mutation, { ...(isNew ? given : { ...rest, ...id }), [name]: value });
    const shown = value ?? (isUpdate ? (given as Record<string, unknown>)[name] : field.defaultValue);
    const [[key, word] = []] = Object.entries(wire[`${thing}.${name}`]!(shown));
    expect([value, bodies.at(-1)?.[key!]]).toEqual([value, shown === undefined ? undefined : word]);
  }
});

test('the table has each flag of a thing', () => {
  expect(flags.filter(({ thing, name }) => !wire[`${thing}.${name}`]).map((row) => row.mutation)).toEqual([]);
  expect(flags.map(({ mutation, name }) => `${mutation}.${name}`)).toContain('collectBook.isPrivate');
});
