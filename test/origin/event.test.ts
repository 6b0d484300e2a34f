import { expect, test } from 'vitest';
import { readers, termOf, writers } from '../../src/atom/media.ts';
import { type EventDraft, type EventFeed, eventTypes } from '../../src/api/event.ts';
import { recordedText } from '../support/recorded.ts';
import { type Credential, type ServiceResponse, rejection, service } from '../support/service.ts';

const origin = await service();
const ALICE = '1000001';
const BOB = '1000002';

const feedOf = (response: ServiceResponse) => readers.eventFeed(response.text);
const eventOf = (response: ServiceResponse) => readers.event(response.text);
const peopleOf = (response: ServiceResponse) => readers.personFeed(response.text);
const idsOf = (feed: EventFeed) => feed.entries.map((entry) => entry.id);

const tomorrow = (hours = 0) =>
  new Date(Date.now() + 86_400_000 + hours * 3_600_000).toISOString().slice(0, 19) + '+00:00';
const draft = (changes: Partial<EventDraft> = {}): EventDraft => ({
  title: '屋顶观星',
  term: termOf('others'),
  content: '带一张毯子。',
  invite_only: 'no',
  can_invite: 'yes',
  startTime: tomorrow(),
  endTime: tomorrow(2),
  where: '海淀区 屋顶',
  ...changes,
});
const create = (as: Credential, changes?: Partial<EventDraft>) =>
  origin.post('/events', as, writers.eventDraft(draft(changes)));
const created = async (changes?: Partial<EventDraft>) => eventOf(await create('alice', changes)).id;
/** An event of alice with many participants. */
const showcase = async () => {
  const { entries } = feedOf(await origin.get(`/people/${ALICE}/events/initiate?max-results=50`));
  return entries.find((entry) => Number(entry.participants) >= 45)!;
};

test('a feed has the documented media type, prefixes and elements', async () => {
  const { status, headers, text } = await origin.get('/event/location/beijing?max-results=2');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/atom\+xml/);
  expect(text).toMatch(/<opensearch:startIndex>1<.*<opensearch:itemPerPage>2<.*<opensearch:totalResults>\d+</s);
  expect(text).toContain('xmlns:opensearch="http://a9.com/-/spec/opensearchrss/1.0/"');
  expect(text).toContain('xmlns:db="http://www.douban.com/xmlns/"');
});

test('an event has its author, and an abstract for other users', async () => {
  const { id } = await showcase();
  const event = eventOf(await origin.get(`/event/${id}`));
  expect(event).toMatchObject({ id, author: { id: ALICE, name: '艾莉丝' }, location: { id: 'beijing', name: '北京' } });
  expect(event.links).toEqual({
    self: `${origin.url}/event/${id}`,
    alternate: expect.any(String),
    image: expect.any(String),
  });
  expect(event.content).toBe(event.summary);
  expect(event.content).toMatch(/\.\.\.$/);
  expect(event).not.toHaveProperty('status');
  expect(event.startTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/);
});

test('the creator of an event gets its full text, others do not', async () => {
  const { id } = await showcase();
  const own = eventOf(await origin.get(`/event/${id}`, 'alice'));
  expect(own.content!.length).toBeGreaterThan(own.summary!.length);
  expect(own.status).toBe('participant');
  const others = eventOf(await origin.get(`/event/${id}`, 'bob'));
  expect(others.content).toBe(others.summary);
});

test('an event, city or user that does not exist is answered with 404', async () => {
  for (const path of [
    '/event/1',
    '/event/abc',
    '/event/1/participants',
    '/event/1/wishers',
    '/event/location/atlantis',
  ]) {
    expect(await origin.get(path)).toMatchObject(rejection(404, 1001, 'uri_not_found', `GET ${path}`));
  }
  for (const path of ['', '/initiate', '/participate', '/wish']) {
    expect(await origin.get(`/people/nobody/events${path}`)).toMatchObject({ status: 404, body: { code: 6008 } });
  }
});

test('feeds begin at 1, accept 0 for it, have 20 entries by default and 50 at most', async () => {
  const page = async (query: string) => feedOf(await origin.get(`/event/location/beijing${query}`));
  const first = await page('');
  expect(first).toMatchObject({ startIndex: 1, itemsPerPage: 20 });
  expect(first.entries).toHaveLength(20);
  expect(first.totalResults).toBeGreaterThanOrEqual(45);
  expect(idsOf(await page('?start-index=0'))).toEqual(idsOf(first));
  expect(idsOf(await page('?start-index=2&max-results=3'))).toEqual(idsOf(first).slice(1, 4));
  const all = await page('?max-results=500');
  expect(all).toMatchObject({ itemsPerPage: 50 });
  expect(all.entries).toHaveLength(50);
  const last = await page(`?start-index=${first.totalResults}&max-results=50`);
  expect(last.entries).toHaveLength(1);
  expect((await page('?start-index=9000')).entries).toEqual([]);
  expect(await origin.get('/event/location/beijing?start-index=x')).toMatchObject({ status: 400, body: { code: 999 } });
});

test('a city has events of every type, and both names of an exhibition are accepted', async () => {
  for (const type of eventTypes) {
    const { entries } = feedOf(await origin.get(`/event/location/beijing?type=${type}`));
    expect(entries.length).toBeGreaterThan(0);
    expect(new Set(entries.map((entry) => entry.term))).toEqual(new Set([termOf(type)]));
  }
  const [written, taken, every, usual] = await Promise.all(
    ['?type=exhibition', '?type=exhibit', '?type=all', ''].map((query) =>
      origin.get(`/event/location/beijing${query}`),
    ),
  );
  expect(idsOf(feedOf(taken!))).toEqual(idsOf(feedOf(written!)));
  expect(feedOf(every!).totalResults).toBe(feedOf(usual!).totalResults);
  expect(await origin.get('/event/location/beijing?type=circus')).toMatchObject({ status: 400, body: { code: 999 } });
});

test('the event entries of a city have no author, and upcoming ones are sorted by start', async () => {
  const { entries } = feedOf(await origin.get('/event/location/beijing?max-results=50'));
  expect(entries.every((entry) => entry.author === undefined && entry.links.image)).toBe(true);
  const starts = entries
    .filter((entry) => Date.parse(entry.endTime!) > Date.now())
    .map((entry) => Date.parse(entry.startTime!));
  expect(starts.length).toBeGreaterThanOrEqual(45);
  expect(starts).toEqual(starts.toSorted((a, b) => a - b));
});

test('recorded events of the demo are past, generated ones are in the future', async () => {
  const past = eventOf(await origin.get('/event/30023544'));
  expect(past).toMatchObject({ startTime: '2018-06-22T19:00:00+08:00', participants: '256', wishers: '552' });
  expect(Date.parse(eventOf(await origin.get('/event/99000001')).startTime!)).toBeGreaterThan(Date.now());
});

test('the event search requires a city, and finds words of any length', async () => {
  const find = async (query: string) => feedOf(await origin.get(`/events?${new URLSearchParams(query)}`));
  expect(await origin.get('/events?q=x')).toMatchObject(rejection(400, 1002, 'missing_args', 'GET /events'));
  expect(await origin.get('/events?location=atlantis')).toMatchObject({ status: 404, body: { code: 1001 } });
  const inBeijing = await find('location=beijing&q=黑白照片展');
  expect(inBeijing.entries.length).toBeGreaterThan(0);
  expect(inBeijing.entries.every((entry) => entry.title.includes('黑白照片展') && !entry.author)).toBe(true);
  expect((await find('location=beijing&q=徒步')).totalResults).toBeGreaterThan(0);
  expect((await find('location=wuhan&q=黑白照片展')).entries).toEqual([]);
  expect((await find('location=all')).totalResults).toBeGreaterThan((await find('location=beijing')).totalResults!);
});

test('the event feeds of a user have pages and authors, and the feed of initiated events has no total', async () => {
  for (const path of ['', '/initiate', '/participate', '/wish']) {
    const feed = feedOf(await origin.get(`/people/alice/events${path}?max-results=50`));
    expect(feed.author).toMatchObject({ id: ALICE, name: '艾莉丝' });
    expect(feed.entries.length).toBeGreaterThanOrEqual(25);
    expect(feed.entries.every((entry) => entry.author)).toBe(true);
    if (path === '/initiate') expect(feed).not.toHaveProperty('totalResults');
    else expect(feed.totalResults).toBeGreaterThanOrEqual(25);
  }
  expect(feedOf(await origin.get(`/people/${ALICE}/events/initiate`)).title).toBe('艾莉丝发起的活动');
});

test('the status of an event is the relation of the current user', async () => {
  const wished = feedOf(await origin.get('/people/alice/events/wish', 'alice'));
  expect(new Set(wished.entries.map((entry) => entry.status))).toEqual(new Set(['wish']));
  expect(
    feedOf(await origin.get('/people/alice/events/wish')).entries.every((entry) => entry.status === undefined),
  ).toBe(true);
});

test('participants and wishers are feeds of users', async () => {
  const { id, title } = await showcase();
  const going = peopleOf(await origin.get(`/event/${id}/participants?max-results=50`));
  expect(going.title).toBe(`要参加 ${title} 活动的成员`);
  expect(going.totalResults).toBeGreaterThanOrEqual(45);
  expect(going.entries).toHaveLength(Math.min(50, going.totalResults!));
  expect(going.entries[0]).toMatchObject({
    id: ALICE,
    uid: 'alice',
    name: '艾莉丝',
    location: { id: 'beijing', name: '北京' },
  });
  const interested = peopleOf(await origin.get(`/event/${id}/wishers?start-index=41`));
  expect(interested.title).toBe(`对 ${title} 活动感兴趣的成员`);
  expect(interested.totalResults).toBeGreaterThanOrEqual(45);
  expect(interested.startIndex).toBe(41);
});

test('users have a link to their homepage if they have one', async () => {
  const { id } = await showcase();
  const { entries } = peopleOf(await origin.get(`/event/${id}/participants?max-results=50`));
  const homepageOf = (expectedUid: string) => entries.find(({ uid }) => uid === expectedUid)!.links.homepage;
  expect(homepageOf('alice')).toBe('https://alice.example/');
  const homepages = entries.map(({ links }) => links.homepage);
  expect(homepages).toContain(undefined);
  for (const homepage of homepages) expect(homepage ?? 'https://').toMatch(/^https:/);
  const text = (await origin.get(`/event/${id}/participants?max-results=1`)).text;
  expect(text).toContain('<link href="https://alice.example/" rel="homepage"/>');
});

test('an organisation has the type "site"', async () => {
  expect(eventOf(await origin.get('/event/30134553')).author).toMatchObject({ name: '票牛', type: 'site' });
});

test('participating replaces being interested, and vice versa', async () => {
  const id = await created();
  const bobs = async () => {
    const { status, participants, wishers } = eventOf(await origin.get(`/event/${id}`, 'bob'));
    return [status, participants, wishers];
  };
  expect(await origin.post(`/event/${id}/wishers`, 'bob')).toMatchObject({ status: 201, text: '' });
  expect(await bobs()).toEqual(['wish', '1', '1']);
  expect(await origin.post(`/event/${id}/participants`, 'bob')).toMatchObject({ status: 201, text: '' });
  expect(await origin.post(`/event/${id}/participants`, 'bob')).toMatchObject({ status: 201 });
  expect(await bobs()).toEqual(['participant', '2', '0']);
  expect(peopleOf(await origin.get(`/event/${id}/participants`)).entries.map((person) => person.id)).toEqual([
    ALICE,
    BOB,
  ]);
  expect(await origin.delete(`/event/${id}/wishers`, 'bob')).toMatchObject({ status: 200 });
  expect(await bobs()).toEqual(['participant', '2', '0']);
  expect(await origin.delete(`/event/${id}/participants`, 'bob')).toMatchObject({ status: 200, text: '' });
  expect(await bobs()).toEqual([undefined, '1', '0']);
  await origin.post(`/event/${id}/wishers`, 'bob');
  expect(await origin.delete(`/event/${id}/wishers`, 'bob')).toMatchObject({ status: 200 });
  expect(await bobs()).toEqual([undefined, '1', '0']);
  await origin.delete(`/event/${id}/participants`, 'alice');
  expect(eventOf(await origin.get(`/event/${id}`, 'alice')).status).toBe('initiate');
});

test('writing events requires a user and an existing event', async () => {
  const id = await created();
  const body = writers.eventDraft(draft());
  for (const as of [null, 'app'] as const) {
    expect(await origin.post('/events', as, body)).toMatchObject({ status: 403, body: { code: 1000 } });
    expect(await origin.put(`/event/${id}`, as, body)).toMatchObject({ status: 403, body: { code: 1000 } });
    expect(await origin.post(`/event/${id}/delete`, as, writers.reason({ reason: 'x' }))).toMatchObject({
      status: 403,
      body: { code: 1000 },
    });
    expect(await origin.post(`/event/${id}/participants`, as)).toMatchObject({ status: 403, body: { code: 1000 } });
    expect(await origin.delete(`/event/${id}/wishers`, as)).toMatchObject({ status: 403, body: { code: 1000 } });
  }
  expect(await origin.post('/event/1/participants', 'bob')).toMatchObject({ status: 404, body: { code: 1001 } });
  expect(await origin.delete('/event/1/wishers', 'bob')).toMatchObject({ status: 404, body: { code: 1001 } });
  expect(await origin.put('/event/1', 'bob', body)).toMatchObject({ status: 404, body: { code: 1001 } });
  expect(await origin.get(`/event/${id}`, { token: 'nobody' })).toMatchObject({ status: 401, body: { code: 103 } });
});

test('a created event is in the city of its creator, who participates', async () => {
  const response = await create('alice', { content: '长'.repeat(200) });
  expect(response.status).toBe(201);
  const event = eventOf(response);
  expect(event).toMatchObject({
    title: '屋顶观星',
    term: termOf('others'),
    content: '长'.repeat(200),
    summary: `${'长'.repeat(160)}...`,
    invite_only: 'no',
    can_invite: 'yes',
    participants: '1',
    wishers: '0',
    status: 'participant',
    location: { id: 'beijing', name: '北京' },
    where: '北京 海淀区 屋顶',
    author: { id: ALICE },
  });
  expect(idsOf(feedOf(await origin.get('/people/alice/events/initiate?max-results=50')))).toContain(event.id);
  expect(
    idsOf(feedOf(await origin.get(`/events?location=beijing&q=${encodeURIComponent('屋顶观星')}&max-results=50`))),
  ).toContain(event.id);
});

test('a user without a city cannot create an event', async () => {
  expect(await create('carol')).toMatchObject({ status: 403, body: { code: 1000, msg: 'need_permission' } });
});

test('any text is stored unchanged, and characters that XML does not allow are rejected', async () => {
  const title = `<&>"']]> &amp; 雨\u{1f327}`;
  const id = await created({ title, content: '一\r\n\n\t二', where: '北京 "旧\'仓库" <3 & 更多' });
  expect(eventOf(await origin.get(`/event/${id}`, 'alice'))).toMatchObject({
    title,
    content: '一\r\n\n\t二',
    where: '北京 北京 "旧\'仓库" <3 & 更多',
  });
  for (const character of ['\u0000', '\u0008', '&#1;', '&#xFFFE;']) {
    const body = writers.eventDraft(draft({ title: 'TITLE' })).replace('TITLE', `a${character}b`);
    expect(await origin.post('/events', 'alice', body)).toMatchObject({ status: 400, body: { code: 999 } });
  }
});

test.each(['title', 'term', 'content', 'startTime', 'endTime', 'where'] as const)(
  'an event without %s is rejected',
  async (name) => {
    expect(await create('alice', { [name]: '' })).toMatchObject({
      status: 400,
      body: { code: 1002, msg: 'missing_args' },
    });
  },
);

test.each([
  ['an end before its start', { startTime: tomorrow(2), endTime: tomorrow(1) }],
  ['an invalid start', { startTime: 'soon' }],
  ['a time without an offset', { endTime: '2031-01-01T10:00:00' }],
  ['a day that does not exist', { startTime: '2031-02-30T10:00:00+08:00', endTime: '2031-03-30T10:00:00+08:00' }],
  ['an unknown type', { term: 'http://www.douban.com/2007#event.circus' }],
  ['a flag that is neither yes nor no', { invite_only: 'maybe' }],
])('an event with %s is rejected', async (_, changes) => {
  expect(await create('alice', changes)).toMatchObject({ status: 400, body: { code: 999 } });
});

test.each([
  ['not XML', 'title=x'],
  ['nothing', ' '],
  ['a DOCTYPE', '<!DOCTYPE entry [<!ENTITY a SYSTEM "file:///etc/hostname">]><entry><title>&a;</title></entry>'],
  ['another root', '<feed/>'],
  ['cut off', writers.eventDraft(draft()).slice(0, -20)],
])('a body that is %s is rejected', async (_, body) => {
  expect(await origin.post('/events', 'alice', body)).toMatchObject({ status: 400, body: { code: 999 } });
});

test('an event can be updated by its creator only, and not after its end', async () => {
  const id = await created();
  const body = writers.eventDraft(draft({ title: '改到室内', term: termOf('salon'), content: '下雨了。' }));
  expect(await origin.put(`/event/${id}`, 'bob', body)).toMatchObject(
    rejection(403, 6002, 'unauthorized_error', `PUT /event/${id}`),
  );
  const response = await origin.put(`/event/${id}`, 'alice', body);
  expect(response.status).toBe(200);
  expect(eventOf(response)).toMatchObject({
    id,
    title: '改到室内',
    term: termOf('salon'),
    content: '下雨了。',
    participants: '1',
  });
  const found = feedOf(await origin.get(`/events?location=all&q=${encodeURIComponent('改到室内')}`));
  expect(idsOf(found)).toEqual([id]);
  expect(await origin.put(`/event/${id}`, 'alice', writers.eventDraft(draft({ title: '' })))).toMatchObject({
    status: 400,
    body: { code: 1002 },
  });
  const past = await created({ startTime: '2020-01-01T10:00:00+08:00', endTime: '2020-01-01T12:00:00+08:00' });
  expect(await origin.put(`/event/${past}`, 'alice', body)).toMatchObject({ status: 403, body: { code: 1000 } });
});

test('an event can be deleted by its creator only, with a reason', async () => {
  const id = await created();
  const reason = writers.reason({ reason: '场地没了' });
  expect(await origin.post(`/event/${id}/delete`, 'bob', reason)).toMatchObject({ status: 403, body: { code: 6002 } });
  expect(await origin.post(`/event/${id}/delete`, 'alice', writers.reason({ reason: '' }))).toMatchObject({
    status: 400,
    body: { code: 1002 },
  });
  const response = await origin.post(`/event/${id}/delete`, 'alice', reason);
  expect(response.status).toBe(200);
  expect(readers.result(response.text)).toEqual({ result: 'OK' });
  expect(await origin.get(`/event/${id}`)).toMatchObject({ status: 404 });
  expect(await origin.post(`/event/${id}/delete`, 'alice', reason)).toMatchObject({
    status: 404,
    body: { code: 1001 },
  });
});

test('an unsupported method is rejected', async () => {
  expect(await origin.delete('/event/30023544', 'alice')).toMatchObject({ status: 400, body: { code: 1014 } });
});

test('recorded requests of clients are accepted', async () => {
  const response = await origin.post('/events', 'alice', recordedText('event/create-request-1.xml'));
  expect(response.status).toBe(201);
  const { id, term } = eventOf(response);
  expect(term).toBe(termOf('music'));
  const deleted = await origin.post(`/event/${id}/delete`, 'alice', recordedText('event/delete-request-1.xml'));
  expect(readers.result(deleted.text)).toEqual({ result: 'OK' });
});
