/** An extension of the catalog's own graph, with each kind of field that calls no service of its own. */
import { GraphQLError } from 'graphql';
import { Book, type Extend, Node, count, decoder, identity, text } from '../../src/extend.ts';

const upperCase = decoder('String', (value) => String(value).toUpperCase());

let turns = 0;

const rare = { description: 'A number.', nullable: true, nullIf: false, maxCalls: 0 } as const;

/** What the resolvers of an embedding program were called with. */
export const asked: string[] = [];

export const shelf: Extend = (builder) => {
  const Place = builder.objectRef<{ row: number; room: string }>('Place').implement({
    description: 'Where a book stands.',
    fields: (t) => ({
      row: t.reads('row', count, 'The row, from 1.'),
      room: t.reads('room', text, 'The room.'),
    }),
  });
  const Room = builder.objectRef<{ id: string }>('Room').implement({
    description: 'A room of the shop.',
    interfaces: [Node],
    nodeOf: (key) => (/^\d$/.test(key) ? { id: key } : null),
    fields: (t) => ({ ...identity(t, 'Room') }),
  });
  builder.objectFields(Book, (t) => ({
    shout: t.reads('title', upperCase, 'The title in capital letters.'),
    label: t.computed({
      type: 'String',
      description: 'Title and ISBN.',
      needs: ['title', 'isbn13'],
      resolve: ({ title, isbn13 }) => `${title} ${isbn13 ?? ''}`,
    }),
    place: t.computed({
      type: Place,
      description: 'Where it stands.',
      nullable: true,
      nullIf: 'the shop has no such book',
      needs: ['isbn13'],
      maxCalls: 2,
      resolve: async ({ isbn13 }) => {
        await Promise.resolve();
        asked.push(isbn13 ?? 'none');
        return { row: 3, room: `room ${isbn13 ?? ''}` };
      },
    }),
  }));
  const who = 'Whom it greets.';
  builder.objectFields(Book, (t) => ({
    greeting: t.field({
      type: 'String',
      description: 'A greeting.',
      args: { who: t.arg.string({ required: true, description: who }) },
      maxCalls: 0,
      resolve: (_book, args) => `Hello ${args.who}`,
    }),
    dedication: t.field({
      type: 'String',
      description: 'A dedication.',
      args: { who: t.arg.string({ required: true, description: who }) },
      // The catalog's own fields say it by t.computed alone, and its compiler rejects the option.
      ...({ needs: ['title'] } as const),
      maxCalls: 0,
      resolve: ({ title }, args) => `${title}, for ${args.who}`,
    }),
    turn: t.computed({ type: 'Int', description: 'A number.', needs: ['title'], maxCalls: 0, resolve: () => ++turns }),
  }));
  builder.queryField('noNumber', (t) => t.field({ ...rare, type: 'Int', resolve: () => Number('seven') }));
  builder.queryField('sold', (t) =>
    t.field({
      ...rare,
      type: 'Int',
      args: { code: t.arg.string({ description: 'Its code.' }) },
      resolve: (_, { code }) => {
        throw new GraphQLError('It is sold.', code == null ? {} : { extensions: { code } });
      },
    }),
  );
  builder.queryField('turn', (t) =>
    t.field({ type: 'Int', description: 'How often it was read.', maxCalls: 0, resolve: () => ++turns }),
  );
  builder.queryField('rooms', (t) =>
    t.field({
      type: [Room],
      description: 'All rooms.',
      maxCalls: 0,
      args: { first: t.arg.int({ required: true, description: 'How many.' }) },
      resolve: (_, { first }) => [{ id: '1' }, { id: '2' }].slice(0, first),
    }),
  );
};
