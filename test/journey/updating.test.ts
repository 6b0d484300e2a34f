import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { losingProxy } from '../support/losing-proxy.ts';
import { keyedClient } from '../support/keyed-client.ts';
import { replica } from '../support/replica.ts';
import { pictures, uploadForm } from '../support/upload.ts';

let setup: Awaited<ReturnType<typeof journey>>;
beforeAll(async () => {
  setup = await journey();
});

const bookId = '1003078';
const operation = (name: string, selection: string) =>
  `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`;

async function write(name: string, input: object, selection = '__typename', token = 'demo-alice') {
  const query = operation(name, selection);
  const { response, passed, calls } = await setup.cost(query, { token, variables: { input } });
  return { ...response, calls, lines: passed.map(({ line }) => line.replace(/\?.*/, '')) };
}
const codeOf = ({ errors }: { errors?: { extensions: Record<string, unknown> }[] }) => errors?.[0]?.extensions.code;

async function read(type: string, id: string, fields: string) {
  const query = `{ node(id: "${id}") { ... on ${type} { ${fields} } } }`;
  const { response } = await setup.cost(query, { token: 'demo-alice' });
  expect(response.errors).toBeUndefined();
  return response.data.node as Record<string, unknown>;
}

const created = async (name: string, input: object, member: string): Promise<string> => {
  const { data, errors } = await write(name, input, `${member} { id }`);
  expect(errors).toBeUndefined();
  return data[name][member].id;
};

const eventDraft = {
  title: '家宴',
  type: 'PARTY',
  content: `只请几位。${'很长的说明。'.repeat(60)}`,
  startsAt: '2031-12-18T19:30:00+08:00',
  endsAt: '2031-12-18T21:30:00+08:00',
  place: '某处 3 号',
  inviteOnly: true,
  canInvite: false,
};

async function noteWithMarkup(): Promise<string> {
  const content =
    '开头 https://example.com/a?b=1&c=2 ，<a href="https://example.org/?x=1&amp;y=&quot;">A &lt;b&gt; &amp; c</a>\n' +
    '<图片p_1>中间<图片p_2>\n第三张没有显示，第九张不存在：<图片p_9>。 a < b && c > d';
  const { pictures: given, files } = pictures([1, 2, 3]);
  const captioned = given.map((each) => ({
    ...each,
    layout: 'LEFT',
    caption: each.number === 1 ? '一 & "二" <三>' : null,
  }));
  const input = { title: '相册', content, privacy: 'FRIEND', canReply: false, pictures: captioned };
  const { data, errors } = await setup.upload(uploadForm(operation('createNote', 'note { id }'), { input }, files));
  expect(errors).toBeUndefined();
  return data.createNote.note.id;
}

const annotation = {
  bookId,
  content: '十六个字符以上的一段读书笔记，正好够长。\n第二段。',
  chapter: '第一章',
  isPrivate: true,
};

/** Of each kind: what is made, what shows it, and the changes of one field. */
const kinds = [
  {
    type: 'Collection',
    make: async () => {
      await write('deleteCollection', { bookId });
      const input = {
        bookId,
        status: 'READING',
        rating: 4,
        tags: ['小说', '想读'],
        comment: '好 ！\n不错',
        isPrivate: true,
      };
      return created('collectBook', input, 'collection');
    },
    target: () => ({ bookId }),
    fields: 'status rating { value } tagNames comment book { id } user { id }',
    changes: [
      ['comment', '一', '二'],
      ['tags', ['甲'], ['乙', '丙']],
      ['status', 'READ', 'WISH'],
    ],
  },
  {
    type: 'Annotation',
    make: () => created('createAnnotation', annotation, 'annotation'),
    target: (id: string) => ({ id }),
    fields: 'content page chapter privacyLevel pictures { number } book { id } author { id }',
    changes: [
      [
        'content',
        '另外的一段读书笔记，也有十六个字符以上，第一次。',
        '另外的一段读书笔记，也有十六个字符以上，第二次。',
      ],
      ['chapter', '第二章', '第三章'],
    ],
  },
  {
    type: 'Note',
    make: noteWithMarkup,
    target: (id: string) => ({ id }),
    fields: 'title content privacy canReply pictures { number url }',
    changes: [
      ['title', '一', '二'],
      ['canReply', true, false],
    ],
  },
  {
    type: 'Event',
    make: () => created('createEvent', eventDraft, 'event'),
    target: (id: string) => ({ id }),
    fields: 'title content summary type typeTerm startsAt endsAt place inviteOnly canInvite',
    changes: [
      ['title', '家宴（改期）', '家宴（又改期）'],
      ['endsAt', '2031-12-18T22:30:00+08:00', '2031-12-18T23:30:00+08:00'],
    ],
  },
] as const;

describe.each(kinds)('an update of $type', ({ type, make, target, fields, changes }) => {
  test.each(changes.map(([field, once, twice]) => ({ field, once, twice })))(
    'of $field twice leaves all else as it was, to the letter',
    async ({ field, once, twice }) => {
      const id = await make();
      const before = await read(type, id, fields);
      for (const value of [once, twice]) {
        const { errors } = await write(`update${type}`, { ...target(id), [field]: value });
        expect(errors).toBeUndefined();
      }
      // A collection is given tags and shows their names.
      const shown = field === 'tags' ? 'tagNames' : field;
      const { [shown]: changed, ...after } = await read(type, id, fields);
      const { [shown]: _, ...kept } = before;
      expect([changed, after]).toEqual([twice, kept]);
    },
  );
});

describe.each(kinds)('an update of $type that changes nothing', ({ type, make, target, fields, changes }) => {
  test('reads the record, writes nothing and shows what is there', async () => {
    const id = await make();
    const [[field, value]] = changes;
    await write(`update${type}`, { ...target(id), [field]: value });
    const shown = `revision ${type === 'Collection' ? 'updatedAt ' : ''}${fields}`;
    const before = await read(type, id, shown);
    const name = type.toLowerCase();
    for (const input of [target(id), { ...target(id), [field]: value }]) {
      const { errors, data, calls, lines } = await write(`update${type}`, input, `${name} { ${shown} }`);
      expect(errors).toBeUndefined();
      expect(data[`update${type}`][name]).toEqual(before);
      expect([calls, lines]).toEqual([1, [expect.stringMatching(/^GET /)]]);
    }
    expect(await read(type, id, shown)).toEqual(before);
  });
});

test('values that the service writes alike are no change', async () => {
  const at = { bookId, status: 'READING', tags: ['甲', '乙'], isPrivate: false };
  await write('collectBook', { ...at, onConflict: 'REPLACE' });
  for (const input of [{ tags: ['乙', '甲', '乙'] }, { rating: null, comment: '' }, { comment: null }])
    expect([input, (await write('updateCollection', { bookId, ...input })).calls]).toEqual([input, 1]);
  const again = { bookId, status: 'READING', onConflict: 'UPDATE' };
  expect(await write('collectBook', again, 'created collection { tagNames }')).toMatchObject({
    data: { collectBook: { created: false, collection: { tagNames: ['甲', '乙'] } } },
    lines: [`POST /v2/book/${bookId}/collection`, `GET /v2/book/${bookId}/collection`],
  });
  const id = await created('createEvent', eventDraft, 'event');
  const { typeTerm } = await read('Event', id, 'typeTerm');
  for (const input of [
    { startsAt: '2031-12-18T11:30:00Z' },
    { type: 'PARTY' },
    { typeTerm },
    { place: eventDraft.place, inviteOnly: true },
  ])
    expect([input, (await write('updateEvent', { id, ...input })).calls]).toEqual([input, 1]);
  const note = await noteWithMarkup();
  const { pictures: added, files } = pictures([4]);
  const form = uploadForm(operation('updateNote', 'storedPictures'), { input: { id: note, pictures: added } }, files);
  expect((await setup.upload(form)).data).toEqual({ updateNote: { storedPictures: [4] } });
});

describe('before anything is sent', () => {
  const bob = 'demo-bob';
  const known = () => setup.cost('{ viewer { user { id } } }', { token: bob });

  test('a known stranger is told NOT_OWNER', async () => {
    await write('collectBook', { bookId, status: 'WISH', onConflict: 'KEEP' }, '__typename', bob);
    await known();
    const note = await created('createNote', { title: '一', content: '二' }, 'note');
    const page = await created('createAnnotation', { ...annotation, isPrivate: false }, 'annotation');
    const event = await created('createEvent', eventDraft, 'event');
    for (const [type, id, change] of [
      ['Note', note, { title: '三' }],
      ['Annotation', page, { chapter: '三' }],
      ['Event', event, { title: '三' }],
      ['Event', event, {}],
    ] as const) {
      const answer = await write(`update${type}`, { id, ...change }, '__typename', bob);
      expect([type, codeOf(answer), answer.calls]).toEqual([type, 'NOT_OWNER', 1]);
      expect(answer.lines).toEqual([expect.stringMatching(/^GET /)]);
    }
  });

  test('an event that is over is EVENT_EXPIRED, and that of an organisation NOT_OWNER', async () => {
    const over = { ...eventDraft, startsAt: '2021-12-18T19:30:00+08:00', endsAt: '2021-12-18T21:30:00+08:00' };
    const id = await created('createEvent', over, 'event');
    for (const change of [{ title: '新' }, { endsAt: eventDraft.endsAt }]) {
      const past = await write('updateEvent', { id, ...change });
      expect([codeOf(past), past.lines]).toEqual(['EVENT_EXPIRED', [`GET /event/${id.slice('Event:'.length)}`]]);
    }
    const { response } = await setup.cost('{ event(id: "10504885") { isPast organizer { id } } }');
    expect(response.data.event).toMatchObject({ isPast: true });
    const answer = await write('updateEvent', { id: '10504885', title: 'x' });
    expect([codeOf(answer), answer.lines]).toEqual(['NOT_OWNER', ['GET /event/10504885']]);
  });
});

test('a type beside its term, and a term that is none, are violations', async () => {
  const { type: _, ...rest } = eventDraft;
  for (const [input, message] of [
    [{ type: 'SALON', typeTerm: 'http://www.douban.com/2007#event.party' }, 'Give `type` or `typeTerm`, not both.'],
    [{ typeTerm: 'nonsense' }, 'This ends in `#event.` and a word, as in `Event.typeTerm`.'],
  ] as const)
    for (const [name, more] of [
      ['updateEvent', {}],
      ['replaceEvent', rest],
    ] as const) {
      const answer = await write(name, { id: '7', ...more, ...input });
      expect(answer.errors?.[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        violations: [{ path: ['input', 'typeTerm'], message }],
      });
      expect(answer.calls).toBe(0);
    }
});

test('a private collection stays private, and a public one public', async () => {
  for (const isPrivate of [true, false]) {
    await write('deleteCollection', { bookId });
    await write('collectBook', { bookId, status: 'READ', isPrivate });
    expect(await write('updateCollection', { bookId, comment: '改' })).toMatchObject({ calls: isPrivate ? 4 : 3 });
    const { response } = await setup.cost(`{ book(id: "${bookId}") { collection(userId: "alice") { comment } } }`);
    expect(response.data.book.collection).toEqual(isPrivate ? null : { comment: '改' });
  }
});

test('null clears, a page clears the chapter, and a chapter the page', async () => {
  await write('collectBook', {
    bookId,
    status: 'READ',
    rating: 3,
    tags: ['甲'],
    comment: '一',
    isPrivate: false,
    onConflict: 'UPDATE',
  });
  const shown = 'collection { status rating { value } tagNames comment }';
  expect((await write('updateCollection', { bookId, rating: null, tags: null, isPrivate: false }, shown)).data).toEqual(
    {
      updateCollection: { collection: { status: 'READ', rating: null, tagNames: [], comment: '一' } },
    },
  );
  const id = await created('createAnnotation', annotation, 'annotation');
  const place = 'annotation { page chapter }';
  for (const [change, expected] of [
    [{ page: 7 }, { page: 7, chapter: null }],
    [{ chapter: '二' }, { page: null, chapter: '二' }],
    [{ page: null }, { page: null, chapter: '二' }],
    [{ chapter: null }, { page: null, chapter: null }],
  ]) {
    const { data } = await write('updateAnnotation', { id, ...change }, place);
    expect(data.updateAnnotation.annotation).toEqual(expected);
  }
});

test('collecting a book anew keeps what it does not name with UPDATE, and clears it with REPLACE', async () => {
  const shown = 'created collection { status rating { value } tagNames comment } book { id }';
  const before = { status: 'READ', rating: 4, tags: ['甲', '乙'], comment: '好' };
  const kept = { status: 'READING', rating: { value: 4 }, tagNames: ['甲', '乙'], comment: '好' };
  const who = `{ book(id: "${bookId}") { viewerCollection { isPrivate } } }`;
  const isPrivateNow = async () =>
    (await setup.cost(who, { token: 'demo-alice' })).response.data.book.viewerCollection.isPrivate as boolean;
  for (const isPrivate of [true, false]) {
    await write('deleteCollection', { bookId });
    expect((await write('collectBook', { bookId, ...before, isPrivate, onConflict: 'UPDATE' })).calls).toBe(1);
    const again = { bookId, status: 'READING', onConflict: 'UPDATE' };
    expect(await write('collectBook', again, shown)).toMatchObject({
      data: { collectBook: { created: false, collection: kept } },
      calls: isPrivate ? 5 : 4,
    });
    expect(await isPrivateNow()).toBe(isPrivate);
    expect(await write('collectBook', { ...again, isPrivate: !isPrivate, comment: null }, shown)).toMatchObject({
      data: { collectBook: { created: false, collection: { ...kept, comment: null } } },
      calls: 3,
    });
    expect(await isPrivateNow()).toBe(!isPrivate);
  }
  const whole = { bookId, status: 'WISH', isPrivate: true, onConflict: 'REPLACE' };
  expect(await write('collectBook', whole, shown)).toMatchObject({
    data: { collectBook: { collection: { status: 'WISH', rating: null, tagNames: [], comment: null } } },
    calls: 2,
  });
});

test('collecting a book anew costs what its price says, and one call if it was not collected', async () => {
  const priced = async (input: object) => {
    const { response } = await setup.cost(operation('collectBook', '__typename'), {
      token: 'demo-alice',
      variables: { input: { bookId, status: 'READ', ...input } },
      headers: { 'x-explain': 'plan' },
    });
    const { likely, max } = (response.extensions as { upstream: { likely: number; max: number } }).upstream;
    return [likely, max];
  };
  expect(await priced({})).toEqual([1, 1]);
  expect(await priced({ onConflict: 'KEEP' })).toEqual([1, 2]);
  expect(await priced({ onConflict: 'REPLACE', isPrivate: true })).toEqual([1, 2]);
  expect(await priced({ onConflict: 'UPDATE', isPrivate: true })).toEqual([1, 3]);
  expect(await priced({ onConflict: 'UPDATE' })).toEqual([1, 5]);
});

test('what cannot be null is a violation, and nothing is read', async () => {
  for (const [name, input] of [
    ['updateCollection', { bookId, status: null }],
    ['updateCollection', { bookId, isPrivate: null }],
    ['updateNote', { id: '7', title: null }],
    ['updateEvent', { id: '7', inviteOnly: null }],
    ['updateEvent', { id: '7', type: null, typeTerm: null }],
    ['collectBook', { bookId, status: 'READ', isPrivate: null, onConflict: 'UPDATE' }],
  ] as const) {
    const answer = await write(name, input);
    expect([name, codeOf(answer), answer.calls]).toEqual([name, 'MISSING_ARGUMENT', 0]);
  }
});

test('rules hold for what is given together with what stays', async () => {
  const id = await created('createEvent', eventDraft, 'event');
  const answer = await write('updateEvent', { id, startsAt: '2031-12-19T00:00:00+08:00' });
  expect([codeOf(answer), answer.lines]).toEqual(['EVENT_TIMES', ['GET /event/' + id.slice('Event:'.length)]]);
});

test('the text of an event is asked for unless it is certain that the caller created it, and nothing is written', async () => {
  const { content: _, ...rest } = eventDraft;
  const id = await created('createEvent', { ...rest, content: '短' }, 'event');
  // A facade that has not been told whose token it is.
  const send = keyedClient((await replica(setup.origin.url)).url);
  const update = (input: object) =>
    send(JSON.stringify({ query: operation('updateEvent', 'event { title content }'), variables: { input } }));
  const refused = await update({ id, title: '新' });
  expect(refused.result.errors[0].extensions).toMatchObject({
    code: 'PRESENT_VALUE_UNKNOWN',
    violations: [{ path: ['input', 'content'] }],
  });
  expect((await read('Event', id, 'title')).title).toBe(eventDraft.title);
  const done = await update({ id, title: '新', content: '短' });
  expect(done.result.data).toEqual({ updateEvent: { event: { title: '新', content: '短' } } });
});

test('the price is exact: one call for the whole, two for a part', async () => {
  const id = await noteWithMarkup();
  const whole = { id, title: '一', content: '二', privacy: 'PRIVATE', canReply: true };
  const priced = async (name: string, input: object) => {
    const { response } = await setup.cost(operation(name, '__typename'), {
      token: 'demo-alice',
      variables: { input },
      headers: { 'x-explain': 'plan' },
    });
    return (response.extensions as { upstream: { max: number } }).upstream.max;
  };
  for (const [name, input, calls] of [
    ['replaceNote', whole, 1],
    ['updateNote', whole, 1],
    ['updateNote', { id, title: '三' }, 2],
  ] as const) {
    expect([name, await priced(name, input), (await write(name, input)).calls]).toEqual([name, calls, calls]);
  }
  expect(await priced('updateCollection', { bookId, status: 'READ' })).toBe(4);
  expect(await priced('updateCollection', { bookId, status: 'READ', isPrivate: true })).toBe(2);
});

test('with a key, a retry is the PUT that the update became, and nothing that somebody changed since is written over', async () => {
  const proxy = await losingProxy(setup.origin.url, () => undefined);
  const send = keyedClient((await replica(proxy.url, { upstreamSettleMs: '60' })).url);
  for (const isChanged of [false, true]) {
    const id = await created('createNote', { title: '一', content: '二' }, 'note');
    const body = JSON.stringify({
      query: operation('updateNote', 'note { title content }'),
      variables: { input: { id, title: '三' } },
    });
    let isOver = false;
    proxy.lose(() => {
      const fault = isOver ? undefined : ({ kind: 'dropped' } as const);
      isOver = true;
      return fault;
    });
    const key = randomUUID();
    expect((await send(body, key)).code).toBe('UPSTREAM_RESULT_UNKNOWN');
    if (isChanged) await write('updateNote', { id, content: '别人' });
    await sleep(80);
    const { code, result } = await send(body, key);
    expect(isChanged ? code : result.data).toEqual(
      isChanged ? 'UPSTREAM_RESULT_UNKNOWN' : { updateNote: { note: { title: '三', content: '二' } } },
    );
    if (isChanged) expect(await read('Note', id, 'title content')).toEqual({ title: '一', content: '别人' });
  }
});

test('with a key, a retry of collecting anew is the PUT that it became, whatever was changed since', async () => {
  const proxy = await losingProxy(setup.origin.url, () => undefined);
  const send = keyedClient((await replica(proxy.url, { upstreamSettleMs: '60' })).url);
  const input = { bookId, status: 'READ', onConflict: 'UPDATE' };
  const query = operation('collectBook', 'collection { status comment }');
  for (const isChanged of [false, true]) {
    await write('deleteCollection', { bookId });
    await write('collectBook', { bookId, status: 'WISH', comment: '一' });
    proxy.lose((line) => (line.startsWith('PUT ') ? { kind: 'dropped' } : undefined));
    const key = randomUUID();
    const body = JSON.stringify({ query, variables: { input } });
    expect((await send(body, key)).code).toBe('UPSTREAM_RESULT_UNKNOWN');
    if (isChanged) await write('updateCollection', { bookId, comment: '二' });
    await sleep(80);
    proxy.lose(() => undefined);
    const { code, result } = await send(body, key);
    expect(isChanged ? code : result.data).toEqual(
      isChanged ? 'UPSTREAM_RESULT_UNKNOWN' : { collectBook: { collection: { status: 'READ', comment: '一' } } },
    );
  }
});

test('with a key, the read that an update needs anyway is the one before the write', async () => {
  const proxy = await losingProxy(setup.origin.url, () => undefined);
  const send = keyedClient((await replica(proxy.url)).url);
  const id = await created('createNote', { title: '一', content: '二' }, 'note');
  const variables = { input: { id, title: '三' } };
  await send(JSON.stringify({ query: operation('updateNote', '__typename'), variables }), randomUUID());
  const path = `/v2/note/${id.slice('Note:'.length)}`;
  expect(proxy.lines.map((line) => line.replace(/\?.*/, ''))).toEqual([`GET ${path}`, `PUT ${path}`]);
});

describe('unchangedSince', () => {
  test.each(kinds)(
    'of a $type lets one of two changes through, and tells the other what differs',
    async ({ type, make, target, changes }) => {
      const id = await make();
      const [[field, once, twice]] = changes;
      const { revision } = await read(type, id, 'revision');
      const first = await write(`update${type}`, { ...target(id), [field]: once, unchangedSince: revision });
      expect(first.errors).toBeUndefined();
      const second = await write(`update${type}`, { ...target(id), [field]: twice, unchangedSince: revision });
      const now = await read(type, id, `revision ${field}`);
      expect(now[field]).toEqual(once);
      expect(second.errors?.[0]?.extensions).toMatchObject({
        code: 'CONFLICT',
        current: { [field]: once },
        revision: now.revision,
      });
      expect(Object.keys(second.errors?.[0]?.extensions.current as object)).toEqual([field]);
      expect(second.lines.every((line) => line.startsWith('GET '))).toBe(true);
      const third = await write(`update${type}`, { ...target(id), [field]: twice, unchangedSince: now.revision });
      expect(third.errors).toBeUndefined();
    },
  );

  test('of an event tells its type as a form shows it', async () => {
    const id = await created('createEvent', eventDraft, 'event');
    const { revision } = await read('Event', id, 'revision');
    await write('updateEvent', { id, type: 'SALON' });
    const answer = await write('updateEvent', { id, title: '新', unchangedSince: revision });
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'CONFLICT', current: { type: 'SALON' } });
  });

  test('costs the read of the record, also if everything is given', async () => {
    const id = await created('createNote', { title: '一', content: '二' }, 'note');
    const { revision } = await read('Note', id, 'revision');
    const whole = { id, title: '三', content: '二', privacy: 'PUBLIC', canReply: true, unchangedSince: revision };
    expect(await write('updateNote', whole)).toMatchObject({ calls: 2, data: { updateNote: {} } });
  });

  test('with a key, a retry of a write that was made is no conflict', async () => {
    const proxy = await losingProxy(setup.origin.url, () => undefined);
    const send = keyedClient((await replica(proxy.url, { upstreamSettleMs: '60' })).url);
    const id = await created('createNote', { title: '一', content: '二' }, 'note');
    const { revision } = await read('Note', id, 'revision');
    const variables = { input: { id, title: '三', unchangedSince: revision } };
    const body = JSON.stringify({ query: operation('updateNote', 'note { title }'), variables });
    proxy.lose(() => ({ kind: 'gateway', isSent: true }));
    const key = randomUUID();
    await send(body, key);
    proxy.lose(() => undefined);
    expect((await send(body, key)).result.data).toEqual({ updateNote: { note: { title: '三' } } });
  });
});
