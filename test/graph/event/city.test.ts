import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { entry, feed, replyTo } from './documents.ts';

describe('a city', () => {
  const there = entry('1', '<db:location id="beijing">北京</db:location>');

  test('costs no call until a field of it is selected', async () => {
    const { execute, calls } = facade();
    expect(await execute('{ city(id: "beijing") { id sourceId } }')).toEqual({
      data: { city: { id: 'City:beijing', sourceId: 'beijing' } },
    });
    expect(calls).toEqual([]);
  });

  test('has its name from its events', async () => {
    const { events, execute, calls } = facade();
    replyTo(events, '/event/location/beijing?max-results=20&start-index=1&type=music', feed(there, { total: 1 }));
    expect((await execute('{ city(id: "beijing") { name events(type: MUSIC) { nodes { title } } } }')).data).toEqual({
      city: { name: '北京', events: { nodes: [{ title: '夜场 1' }] } },
    });
    expect(calls).toHaveLength(1);
  });

  test('has its name from a call for one event if no other response provides it, and null without events', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/location/beijing?max-results=1', feed(there));
    replyTo(events, '/event/location/nowhere?max-results=1', feed(''));
    expect(await execute('{ a: city(id: "beijing") { name } b: city(id: "nowhere") { id name } }')).toEqual({
      data: { a: { name: '北京' }, b: { id: 'City:nowhere', name: null } },
    });
  });

  test('has a page as large as the service makes it, and says that there are more events', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/location/beijing?max-results=100&start-index=1', feed(there, { total: 2 }));
    const { data } = await execute(
      '{ city(id: "beijing") { events(first: 100) { nodes { id } pageInfo { hasNextPage } } } }',
    );
    expect(data.city.events).toEqual({ nodes: [{ id: 'Event:1' }], pageInfo: { hasNextPage: true } });
  });

  test('loads its films in theaters by its name', async () => {
    const { service, events, execute } = facade();
    replyTo(events, '/event/location/beijing?max-results=1', feed(there));
    replyTo(
      service,
      '/v2/movie/in_theaters?city=北京&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    expect((await execute('{ city(id: "beijing") { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [{ title: '活着' }] },
    });
  });

  test('loads its films in theaters by its number if that is its id', async () => {
    const { service, events, execute } = facade();
    replyTo(events, '/event/location/108288?max-results=1', feed(''));
    replyTo(
      service,
      '/v2/movie/in_theaters?city=108288&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    expect((await execute('{ city(id: 108288) { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [{ title: '活着' }] },
    });
  });

  test('has its events and films in theaters although loading its name fails', async () => {
    const { service, events, execute } = facade();
    events.intercept({ path: '/event/location/108288?max-results=1' }).reply(500, 'no');
    replyTo(events, '/event/location/108288?max-results=20&start-index=1&type=music', feed('', { total: 0 }));
    replyTo(
      service,
      '/v2/movie/in_theaters?city=108288&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    const query =
      '{ city(id: 108288) { id name events(type: MUSIC) { nodes { title } } inTheaters { nodes { title } } } }';
    const { data, errors } = await execute(query);
    expect(data.city).toEqual({
      id: 'City:108288',
      name: null,
      events: { nodes: [] },
      inTheaters: { nodes: [{ title: '活着' }] },
    });
    expect(errors?.map(({ path, extensions }) => [path, extensions.code])).toEqual([
      [['city', 'name'], 'UPSTREAM_UNAVAILABLE'],
    ]);
  });

  test('by a number has the name that its events state, whose city has another id', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/location/118318?max-results=1', feed(there));
    expect((await execute('{ city(id: "118318") { name } }')).data.city).toEqual({ name: '北京' });
  });

  test('has no films in theaters if its name is unknown, instead of those of another city', async () => {
    const { events, execute } = facade();
    replyTo(events, '/event/location/nowhere?max-results=1', feed(''));
    expect((await execute('{ city(id: "nowhere") { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [] },
    });
  });
});
