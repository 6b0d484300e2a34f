import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { answers, entry, feed } from './documents.ts';

describe('a city', () => {
  const there = entry('1', '<db:location id="beijing">北京</db:location>');

  test('costs nothing until something of it is read', async () => {
    const { ask, calls } = facade();
    expect(await ask('{ city(id: "beijing") { id sourceId } }')).toEqual({
      data: { city: { id: 'City:beijing', sourceId: 'beijing' } },
    });
    expect(calls).toEqual([]);
  });

  test('has the name that its events tell', async () => {
    const { events, ask, calls } = facade();
    answers(events, '/event/location/beijing?max-results=20&start-index=1&type=music', feed(there, { total: 1 }));
    expect((await ask('{ city(id: "beijing") { name events(type: MUSIC) { nodes { title } } } }')).data).toEqual({
      city: { name: '北京', events: { nodes: [{ title: '夜场 1' }] } },
    });
    expect(calls).toHaveLength(1);
  });

  test('asks for one event where nothing tells its name, and has none without events', async () => {
    const { events, ask } = facade();
    answers(events, '/event/location/beijing?max-results=1', feed(there));
    answers(events, '/event/location/nowhere?max-results=1', feed(''));
    expect(await ask('{ a: city(id: "beijing") { name } b: city(id: "nowhere") { id name } }')).toEqual({
      data: { a: { name: '北京' }, b: { id: 'City:nowhere', name: null } },
    });
  });

  test('asks for its cinemas by its name', async () => {
    const { service, events, ask } = facade();
    answers(events, '/event/location/beijing?max-results=1', feed(there));
    answers(
      service,
      '/v2/movie/in_theaters?city=北京&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    expect((await ask('{ city(id: "beijing") { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [{ title: '活着' }] },
    });
  });

  test('asks for its cinemas by its number where that is its id', async () => {
    const { service, events, ask } = facade();
    answers(events, '/event/location/108288?max-results=1', feed(''));
    answers(
      service,
      '/v2/movie/in_theaters?city=108288&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    expect((await ask('{ city(id: 108288) { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [{ title: '活着' }] },
    });
  });

  test('whose name cannot be read shows its events and its cinemas all the same', async () => {
    const { service, events, ask } = facade();
    events.intercept({ path: '/event/location/108288?max-results=1' }).reply(500, 'no');
    answers(events, '/event/location/108288?max-results=20&start-index=1&type=music', feed('', { total: 0 }));
    answers(
      service,
      '/v2/movie/in_theaters?city=108288&count=20&fields=id,title&start=0',
      '{"total":1,"subjects":[{"id":"7","title":"活着"}]}',
    );
    const query =
      '{ city(id: 108288) { id name events(type: MUSIC) { nodes { title } } inTheaters { nodes { title } } } }';
    const { data, errors } = await ask(query);
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

  test('never shows the cinemas of another city where its name is not known', async () => {
    const { events, ask } = facade();
    answers(events, '/event/location/nowhere?max-results=1', feed(''));
    expect((await ask('{ city(id: "nowhere") { inTheaters { nodes { title } } } }')).data.city).toEqual({
      inTheaters: { nodes: [] },
    });
  });
});
