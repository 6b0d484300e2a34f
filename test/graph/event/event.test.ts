import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { entry, feed, replyTo } from './documents.ts';

const author = `<author><link href="http://api.example/people/9" rel="self"/><name>主办者</name></author>`;
const person = (id: string) => `<entry>
  <id>http://api.example/people/${id}</id>
  <title>成员${id}</title>
  <link href="http://www.example/people/${id}/" rel="alternate"/>
  <db:location id="beijing">北京</db:location>
</entry>`;

describe('an event', () => {
  test('is loaded completely by one call of its entry', async () => {
    const { events, execute, calls } = facade();
    replyTo(
      events,
      '/event/1',
      entry(
        '1',
        `<category scheme="http://www.douban.com/2007#kind" term="http://www.douban.com/2007#event.music"/>
        ${author}
        <link href="http://www.example/event/1/" rel="alternate"/>
        <link href="http://img.example/e1.jpg" rel="image"/>
        <summary>摘要</summary>
        <content>摘要</content>
        <db:attribute name="invite_only">no</db:attribute>
        <db:attribute name="can_invite">yes</db:attribute>
        <db:attribute name="participants">13</db:attribute>
        <db:attribute name="wishers">22</db:attribute>
        <db:location id="beijing">北京</db:location>
        <gd:when endTime="2999-10-25T19:00:00+08:00" startTime="2999-10-25T13:00:00+08:00"/>
        <gd:where valueString="北京 蓝旗营"/>`,
      ),
    );
    const { data, errors } = await execute(`{ event(id: "Event:1") {
      id sourceId title summary content type typeTerm startsAt endsAt isPast place city { id name } imageUrl webUrl inviteOnly canInvite
      participantsCount interestedPeopleCount viewerRelation organizer { id name }
    } }`);
    expect(errors).toBeUndefined();
    expect(data.event).toEqual({
      id: 'Event:1',
      sourceId: '1',
      title: '夜场 1',
      summary: '摘要',
      content: '摘要',
      type: 'MUSIC',
      typeTerm: 'http://www.douban.com/2007#event.music',
      startsAt: '2999-10-25T13:00:00+08:00',
      endsAt: '2999-10-25T19:00:00+08:00',
      isPast: false,
      place: '北京 蓝旗营',
      city: { id: 'City:beijing', name: '北京' },
      imageUrl: 'http://img.example/e1.jpg',
      webUrl: 'http://www.example/event/1/',
      inviteOnly: false,
      canInvite: true,
      participantsCount: 13,
      interestedPeopleCount: 22,
      viewerRelation: null,
      organizer: { id: 'User:9', name: '主办者' },
    });
    expect(calls).toEqual(['GET /event/1']);
  });

  test('has defaults for elements that its entry lacks', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/1', entry('1'));
    const { data, errors } = await execute(`{ event(id: 1) {
      summary content type typeTerm startsAt endsAt isPast place city { id } imageUrl webUrl inviteOnly canInvite participantsCount organizer { id }
    } }`);
    expect(errors).toBeUndefined();
    expect(data.event).toEqual({
      summary: null,
      content: null,
      type: null,
      typeTerm: null,
      startsAt: null,
      endsAt: null,
      isPast: false,
      place: null,
      city: null,
      imageUrl: null,
      webUrl: null,
      inviteOnly: false,
      canInvite: false,
      participantsCount: 0,
      organizer: null,
    });
  });

  test.each([
    ['exhibit', 'EXHIBITION'],
    ['exhibition', 'EXHIBITION'],
    ['commonweal', 'COMMONWEAL'],
    ['karaoke', null],
  ])('of the kind %s has the type %s, and its term as sent', async (kind, type) => {
    const { events, execute } = facade();
    const term = `http://www.douban.com/2007#event.${kind}`;
    replyTo(events, '/event/1', entry('1', `<category term="${term}"/>`));
    expect(await execute('{ event(id: 1) { type typeTerm } }')).toEqual({ data: { event: { type, typeTerm: term } } });
  });

  test('is past if its end is in the past', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/1', entry('1', '<gd:when endTime="2008-10-25T19:00:00+08:00" startTime="soon"/>'));
    expect(await execute('{ event(id: 1) { isPast startsAt } }')).toEqual({
      data: { event: { isPast: true, startsAt: null } },
    });
  });

  test.each([
    ['participant', 'PARTICIPATING'],
    ['participate', 'PARTICIPATING'],
    ['wish', 'INTERESTED'],
    ['initiate', 'INITIATED'],
    ['constructor', null],
  ])('with the status %s for the viewer has the relation %s', async (status, relation) => {
    const { events, execute } = facade();
    replyTo(events, '/event/1', entry('1', `<db:attribute name="status">${status}</db:attribute>`));
    expect(
      (await execute('{ event(id: 1) { title viewerRelation } }', { token: 'mine' })).data.event.viewerRelation,
    ).toBe(relation);
  });

  test('has no viewer relation without a user token', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/1', entry('1', '<db:attribute name="status">wish</db:attribute>'));
    expect((await execute('{ event(id: 1) { title viewerRelation } }')).data.event.viewerRelation).toBeNull();
  });

  test('may have an organisation as its organizer, whose type says so and whose events can be loaded', async () => {
    const { events, execute, calls } = facade();
    const site = `<author>
      <link href="http://api.example/site/greenflower" rel="self"/><link href="http://site.example/greenflower" rel="alternate"/><name>绿花</name>
    </author>`;
    replyTo(events, '/event/1', entry('1', site));
    replyTo(events, '/people/greenflower/events?max-results=20&start-index=1', feed(entry('2')));
    const organizer =
      'organizer { __typename id name ... on Organization { sourceId events { nodes { id } } } ... on User { bookCollections { totalCount } } }';
    const { data } = await execute(`{ event(id: 1) { ${organizer} } }`);
    expect(data.event.organizer).toEqual({
      __typename: 'Organization',
      id: 'Organization:greenflower',
      sourceId: 'greenflower',
      name: '绿花',
      events: { nodes: [{ id: 'Event:2' }] },
    });
    expect(calls).toHaveLength(2);
    // The global id denotes the same organisation in every field.
    const again = await execute(
      '{ organization(id: "greenflower") { id } node(id: "Organization:greenflower") { ... on Organization { id sourceId } } }',
    );
    expect(again.data).toEqual({
      organization: { id: 'Organization:greenflower' },
      node: { id: 'Organization:greenflower', sourceId: 'greenflower' },
    });
  });

  test('may have a band as its organizer, of which the service returns only the page, the picture and the name', async () => {
    const { events, execute } = facade();
    const band = `<author>
      <link href="http://www.example/artist/moss/" rel="alternate"/><link href="http://img.example/u7.jpg" rel="icon"/><name>苔藓乐队</name>
    </author>`;
    replyTo(events, '/event/1', entry('1', band));
    const { data } = await execute('{ event(id: 1) { organizer { __typename id name webUrl avatarUrl } } }');
    expect(data.event.organizer).toEqual({
      __typename: 'Organization',
      id: 'Organization:moss',
      name: '苔藓乐队',
      webUrl: 'http://www.example/artist/moss/',
      avatarUrl: 'http://img.example/u7.jpg',
    });
  });

  test.each([
    ['a band whose name contains “site”', 'artist/parasite', 'Organization:parasite'],
    ['a person called artist', 'people/artist', 'User:artist'],
    ['a person called site', 'people/site', 'User:site'],
  ])('may be %s', async (_, page, organizer) => {
    const { events, execute } = facade();
    replyTo(
      events,
      '/event/1',
      entry('1', `<author><link href="http://www.example/${page}/" rel="alternate"/></author>`),
    );
    const { data } = await execute('{ event(id: 1) { organizer { id } } }');
    expect(data.event.organizer).toEqual({ id: organizer });
  });

  test('list of an organisation that does not exist is null', async () => {
    const { events, execute } = facade();
    replyTo(events, '/people/x/events?max-results=20&start-index=1', 'none', 404);
    expect(await execute('{ organization(id: "x") { events { nodes { id } } } }')).toEqual({
      data: { organization: null },
    });
  });

  test('has its coordinates', async () => {
    const { events, execute } = facade();
    const more = `<georss:point xmlns:georss="http://www.georss.org/georss"> 39.9 116.33 </georss:point>`;
    replyTo(events, '/event/1', entry('1', more));
    replyTo(
      events,
      '/event/2',
      entry('2', '<georss:point xmlns:georss="http://www.georss.org/georss">91 0</georss:point>'),
    );
    const fields = '{ coordinates { latitude longitude } }';
    expect((await execute(`{ a: event(id: 1) ${fields} b: event(id: 2) ${fields} }`)).data).toEqual({
      a: { coordinates: { latitude: 39.9, longitude: 116.33 } },
      b: { coordinates: null },
    });
  });

  test('feed has an author, a title and a page URL', async () => {
    const { events, execute } = facade();
    const inside = `${author}<link href="http://www.example/people/9/events" rel="alternate"/>`;
    replyTo(events, '/people/9/events?max-results=1&start-index=1', feed(inside, { title: '主办者的活动' }));
    replyTo(events, '/event/1/wishers?max-results=1&start-index=1', feed(person('5')));
    replyTo(events, '/event/1', entry('1'));
    const { data } = await execute(
      '{ user(id: 9) { events { title webUrl author { id name } } } event(id: 1) { interestedPeople { title webUrl author { id } } } }',
    );
    expect(data).toEqual({
      user: {
        events: {
          title: '主办者的活动',
          webUrl: 'http://www.example/people/9/events',
          author: { id: 'User:9', name: '主办者' },
        },
      },
      event: { interestedPeople: { title: '活动', webUrl: null, author: null } },
    });
  });

  test('has participants and interested people with their cities', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/1', entry('1'));
    replyTo(events, '/event/1/participants?max-results=2&start-index=1', feed(person('5') + person('6'), { total: 3 }));
    replyTo(events, '/event/1/wishers?max-results=20&start-index=1', feed('', { total: 0 }));
    const { data, errors } = await execute(`{ event(id: 1) { title
      participants(first: 2) { totalCount pageInfo { hasNextPage } edges { city { name } node { id name webUrl } } }
      interestedPeople { totalCount nodes { id } }
    } }`);
    expect(errors).toBeUndefined();
    expect(data.event).toMatchObject({
      participants: {
        totalCount: 3,
        pageInfo: { hasNextPage: true },
        edges: [
          { city: { name: '北京' }, node: { id: 'User:5', name: '成员5', webUrl: 'http://www.example/people/5/' } },
          { node: { id: 'User:6' } },
        ],
      },
      interestedPeople: { totalCount: 0, nodes: [] },
    });
  });
});

describe('an event list', () => {
  test('of a search is of all cities if none is given, without an empty keyword', async () => {
    const { events, execute, calls } = facade();
    replyTo(
      events,
      '/events?location=all&max-results=20&start-index=1',
      feed(entry('1'), { total: 1, title: '同城活动' }),
    );
    expect((await execute('{ searchEvents(query: " ") { title totalCount nodes { title } } }')).data).toEqual({
      searchEvents: { title: '同城活动', totalCount: 1, nodes: [{ title: '夜场 1' }] },
    });
    expect(calls).toHaveLength(1);
  });

  test('of a search in one city has the city and the keyword in its request', async () => {
    const { events, execute } = facade();
    replyTo(events, '/events?location=beijing&max-results=2&q=音乐&start-index=3', feed(entry('1')));
    const { data } = await execute(
      '{ searchEvents(query: "音乐", cityId: "City:beijing", first: 2, offset: 2) { totalCount nodes { id } } }',
    );
    expect(data.searchEvents).toEqual({ totalCount: null, nodes: [{ id: 'Event:1' }] });
  });

  test('of a search lacks organizers, so each costs one call', async () => {
    const { events, execute, calls } = facade();
    events.intercept({ path: /^\/events/ }).reply(200, feed(entry('1') + entry('2'), { total: 2 }));
    replyTo(events, '/event/1', entry('1', author));
    replyTo(events, '/event/2', entry('2', author));
    expect((await execute('{ searchEvents { nodes { title organizer { name } } } }')).data.searchEvents.nodes).toEqual([
      { title: '夜场 1', organizer: { name: '主办者' } },
      { title: '夜场 2', organizer: { name: '主办者' } },
    ]);
    expect(calls).toHaveLength(3);
  });

  test.each([
    ['', '/people/9/events'],
    ['relation: INITIATED, ', '/people/9/events/initiate'],
    ['relation: PARTICIPATING, ', '/people/9/events/participate'],
    ['relation: INTERESTED, ', '/people/9/events/wish'],
  ])('of a user is selected by relation, and contains organizers: %s', async (relation, path) => {
    const { events, execute, calls } = facade();
    replyTo(events, `${path}?max-results=5&start-index=1`, feed(entry('1', author)));
    expect(
      (await execute(`{ user(id: 9) { events(${relation}first: 5) { nodes { title organizer { name } } } } }`)).data,
    ).toEqual({
      user: { events: { nodes: [{ title: '夜场 1', organizer: { name: '主办者' } }] } },
    });
    expect(calls).toHaveLength(1);
  });
});
