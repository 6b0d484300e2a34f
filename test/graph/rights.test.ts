import { getNamedType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/graph/schema.ts';
import { journey } from '../support/journey.ts';
import { facade } from '../support/facade.ts';

const RIGHTS = ['viewerDidAuthor', 'viewerCanUpdate', 'viewerCanDelete'];
const rights = RIGHTS.join(' ');
const [yes, no, unknown] = [true, false, null].map((is) => Object.fromEntries(RIGHTS.map((name) => [name, is])));

const alice = { id: '3', uid: 'ali', name: '艾' };
const annotation = { id: '9', book_id: '7', author_id: '3', author_user: alice, page_no: 1, content: '一' };
const shelved = (user_id: string) => ({ id: 1, book_id: '7', user_id, status: 'wish' });
const book = { id: '7', title: '活着' };

/** A facade that has been told who `token` is. */
async function facadeThatKnows(persons: Record<string, string>, settings = {}) {
  const made = facade(settings);
  const { service, execute, calls } = made;
  for (const [token, id] of Object.entries(persons)) {
    service
      .intercept({ path: /^\/v2\/book\/70\/collection/, headers: { authorization: `Bearer ${token}` } })
      .reply(200, { ...shelved(id), book_id: '70' });
    await execute('{ book(id: "70") { viewerCollection { tagNames } } }', { token });
  }
  calls.length = 0;
  return made;
}

test('each kind that a person makes says what the caller may do with it', () => {
  const types = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && RIGHTS.every((name) => name in type.getFields()) ? [type] : [],
  );
  expect(types.map(({ name }) => name)).toEqual(['Annotation', 'Collection', 'Event', 'Note', 'NoteComment']);
  for (const type of types)
    for (const name of RIGHTS) expect(String(getNamedType(type.getFields()[name]!.type))).toBe('Boolean');
});

describe('a cached annotation', () => {
  const query = `{ annotation(id: "9") { id page ${rights} } }`;

  test('that its author has read says nothing of the author to anybody else', async () => {
    const { service, execute, calls } = await facadeThatKnows({ alice: '3', bob: '4' }, { accessToken: 'own' });
    service
      .intercept({ path: /^\/v2\/book\/annotation\/9/ })
      .reply(200, annotation)
      .persist();
    const shown = { id: 'Annotation:9', page: 1 };
    for (const [token, expected] of [
      ['alice', yes],
      ['bob', no],
      [undefined, unknown],
      ['carol', unknown],
      ['alice', yes],
      [undefined, unknown],
      ['bob', no],
    ] as const) {
      const { data } = await execute(query, { ...(token && { token }) });
      expect([token, data]).toEqual([token, { annotation: { ...shown, ...expected } }]);
    }
    expect(calls.length).toBeLessThan(7); // some were served from the cache
  });

  test('costs what it costs without these fields', async () => {
    const { execute } = await facadeThatKnows({ alice: '3' });
    const priceOf = async (text: string) => {
      const { extensions } = await execute(text, { token: 'alice', explain: 'plan' });
      return (extensions as { upstream: { max: number } }).upstream.max;
    };
    for (const [before, after] of [
      ['annotation(id: "9") { ', '}'],
      ['note(id: "9") { ', 'comments(first: 3) { nodes { SAME } } }'],
      ['event(id: "9") { ', '}'],
      ['book(id: "7") { viewerCollection { ', '} annotations { nodes { SAME } } }'],
      [
        'user(id: "3") { id notes { nodes { ',
        '} } annotations { nodes { SAME } } bookCollections { nodes { SAME } } }',
      ],
      ['user(id: "3") { id events { nodes { ', '} } }'],
    ]) {
      const withFields = (fields: string) => `{ ${before}${fields} ${after!.replaceAll('SAME', fields)} }`;
      expect([before, await priceOf(withFields(rights))]).toEqual([before, await priceOf(withFields('sourceId'))]);
    }
    // Lists that do not name the organizer.
    for (const list of ['searchEvents { nodes {', 'city(id: "beijing") { id events { nodes {']) {
      const withFields = (fields: string) => `{ ${list} ${fields} ${list.replace(/[^{]/g, '').replaceAll('{', '}')} }`;
      for (const name of [...RIGHTS, 'viewerIsOrganizer'])
        expect([name, await priceOf(withFields(name))]).toEqual([name, await priceOf(withFields('organizer { id }'))]);
    }
  });
});

test('nobody is the caller while no response has named the caller, and no call is made to find out', async () => {
  const { service, execute, calls } = facade();
  service.intercept({ path: /^\/v2\/book\/annotation\/9/ }).reply(200, annotation);
  const { data } = await execute(`{ annotation(id: "9") { ${rights} } }`, { token: 'alice' });
  expect(data).toEqual({ annotation: unknown });
  expect(calls).toHaveLength(1);
});

test('a shelf entry that names the caller is known as the own one at once, and that of another person as theirs', async () => {
  const { service, execute } = facade();
  service
    .intercept({ path: /^\/v2\/book\/7(\?|$)/ })
    .reply(200, { ...book, current_user_collection: shelved('3') })
    .persist();
  service.intercept({ path: /^\/v2\/book\/7\/collection.*user_id=4/ }).reply(200, shelved('4'));
  const { data } = await execute(
    `{ book(id: "7") { title viewerCollection { ${rights} } collection(userId: "4") { ${rights} } } }`,
    { token: 'alice' },
  );
  expect(data.book.viewerCollection).toEqual(yes);
  expect([no, unknown]).toContainEqual(data.book.collection);
  const again = await execute(`{ book(id: "7") { viewerCollection { ${rights} } } }`, { token: 'alice' });
  expect(again.data.book.viewerCollection).toEqual(yes);
});

test('all objects of a response know of the same caller, whichever is shown first', async () => {
  const { service, execute } = facade();
  service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(200, shelved('3'));
  service
    .intercept({ path: /^\/v2\/book\/7\?/ })
    .reply(200, { ...book, current_user_collection: shelved('3') })
    .delay(50);
  const { data } = await execute(
    `{ node(id: "Collection:3:7") { ... on Collection { status ${rights} } } book(id: "7") { title viewerCollection { ${rights} } } }`,
    { token: 'alice' },
  );
  expect(data).toEqual({ node: { status: 'WISH', ...yes }, book: { title: '活着', viewerCollection: yes } });
});

test('what a deferred part tells of the caller is not shown beside what was delivered without', async () => {
  const { service, execute } = facade();
  service.intercept({ path: /^\/v2\/book\/7\/collection/ }).reply(200, shelved('3'));
  service
    .intercept({ path: /^\/v2\/book\/7\?/ })
    .reply(200, { ...book, current_user_collection: shelved('3') })
    .delay(50);
  const query = `{ node(id: "Collection:3:7") { ... on Collection { status ${rights} } } ... @defer { book(id: "7") { title viewerCollection { ${rights} } } } }`;
  expect((await execute(query, { token: 'alice' })).data).toMatchObject({
    node: unknown,
    book: { viewerCollection: unknown },
  });
});

test('the payload of a write knows who its response has named', async () => {
  const { service, execute } = facade();
  service.intercept({ path: '/v2/book/7/annotations', method: 'POST' }).reply(201, annotation);
  const { data } = await execute(
    `mutation { createAnnotation(input: { bookId: "7", content: "${'一'.repeat(16)}" }) { annotation { ${rights} } } }`,
    { token: 'alice' },
  );
  expect(data).toEqual({ createAnnotation: { annotation: yes } });
});

describe('over the service', async () => {
  const here = await journey();
  const ask = async (query: string, token?: string) => {
    const { data, errors } = await here.execute(query, { ...(token && { token }) });
    expect(errors).toBeUndefined();
    return data;
  };
  const draft = 'type: SALON, content: "一", place: "某处"';
  const eventOf = async (title: string, startsAt: string) => {
    const input = `{ title: "${title}", startsAt: "${startsAt}", endsAt: "${startsAt}", ${draft} }`;
    return (await ask(`mutation { createEvent(input: ${input}) { event { id } } }`, 'demo-alice')).createEvent.event.id;
  };
  const note = await ask(
    'mutation { createNote(input: { title: "一", content: "二" }) { note { id } } }',
    'demo-alice',
  );
  const noteId: string = note.createNote.note.id;
  const commented = async (token: string): Promise<string> => {
    const input = `{ noteId: "${noteId}", content: "好" }`;
    return (await ask(`mutation { createNoteComment(input: ${input}) { comment { id } } }`, token)).createNoteComment
      .comment.id;
  };
  const comments = [await commented('demo-alice'), await commented('demo-bob')];
  const coming = await eventOf('将来', '2031-12-18T19:30:00+08:00');
  const past = await eventOf('过去', '2011-12-18T19:30:00+08:00');

  test('an event can be changed by its organizer until it is over, and deleted also then', async () => {
    const fields = `viewerIsOrganizer ${rights}`;
    const query = `{ coming: event(id: "${coming}") { ${fields} } past: event(id: "${past}") { ${fields} } }`;
    expect(await ask(query, 'demo-alice')).toEqual({
      coming: { viewerIsOrganizer: true, ...yes },
      past: { viewerIsOrganizer: true, ...yes, viewerCanUpdate: false },
    });
    expect(await ask(query, 'demo-bob')).toEqual({
      coming: { viewerIsOrganizer: false, ...no },
      past: { viewerIsOrganizer: false, ...no },
    });
    expect(await ask(query)).toEqual({
      coming: { viewerIsOrganizer: null, ...unknown },
      past: { viewerIsOrganizer: null, ...unknown },
    });
  });

  test('an event of a search says what its organizer may do, with a call for the organizer', async () => {
    const query = (fields: string) => `{ searchEvents(query: "将来") { nodes { id ${fields} } } }`;
    const { response, calls } = await here.cost(query('viewerIsOrganizer'), { token: 'demo-alice' });
    expect(response).toEqual({ data: { searchEvents: { nodes: [{ id: coming, viewerIsOrganizer: true }] } } });
    expect(calls).toBe(2);
  });

  test('a note can be changed by its author, and a comment deleted by its own', async () => {
    const query = `{ note(id: "${noteId}") { ${rights} comments { nodes { id ${rights} } } } }`;
    const seenBy = async (token: string) => (await ask(query, token)).note;
    const own = { ...yes, viewerCanUpdate: false };
    expect(await seenBy('demo-alice')).toEqual({
      ...yes,
      comments: { nodes: comments.map((id, at) => ({ id, ...(at === 0 ? own : no) })) },
    });
    expect(await seenBy('demo-bob')).toEqual({
      ...no,
      comments: { nodes: comments.map((id, at) => ({ id, ...(at === 1 ? own : no) })) },
    });
  });
});
