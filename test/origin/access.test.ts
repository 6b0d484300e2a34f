import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { read, rejection, service } from '../support/service.ts';

const origin = await service();

describe('access control', () => {
  test('allows reading books without a token', async () => {
    expect((await origin.get('/v2/book/6082808?fields=title')).body).toEqual({ title: '百年孤独' });
  });

  test.each(['Bearer nobody', 'Bearer', 'Basic ZGVtby1hbGljZQ==', 'demo-alice'])(
    'rejects an invalid credential: %s',
    async (value) => {
      const response = await read(await fetch(`${origin.url}/v2/book/6082808`, { headers: { authorization: value } }));
      expect(response).toMatchObject(rejection(401, 103, 'invalid_access_token', 'GET /v2/book/6082808'));
    },
  );

  test('allows writing with the token of a user, but not of an application or without one', async () => {
    const draft = { status: 'wish' };
    const path = '/v2/book/25862578/collection';
    expect((await origin.post(path, 'carol', draft)).status).toBe(201);
    expect(await origin.post(path, 'app', draft)).toMatchObject(
      rejection(403, 1000, 'need_permission', `POST ${path}`),
    );
    expect(await origin.post(path, null, draft)).toMatchObject(rejection(403, 1000, 'need_permission', `POST ${path}`));
  });

  test('hides a path whose scope the token lacks', async () => {
    const path = '/v2/book/user_tags/alice';
    expect((await origin.get(path, 'bob')).status).toBe(200);
    expect(await origin.get(path)).toMatchObject(rejection(404, 1001, 'uri_not_found', `GET ${path}`));
    expect(await origin.get(path, 'app')).toMatchObject(rejection(404, 1001, 'uri_not_found', `GET ${path}`));
  });

  test('rejects demo tokens if they are disabled', async () => {
    const closed = await service({ demoTokens: false });
    expect((await closed.get('/v2/book/6082808', 'alice')).body.code).toBe(103);
    expect((await closed.get('/v2/book/6082808')).status).toBe(200);
  });
});

describe('the rate limit of the basic film tier', () => {
  let clock = Date.UTC(2030, 0, 1);
  const film = '/v2/movie/subject/1295644?fields=id';

  test('is forty requests a minute per token and per client address, in a sliding window', async () => {
    const limited = await service({ now: () => clock });
    const statuses = async (as: 'alice' | 'bob' | null, times: number) => {
      const found = [];
      for (let n = 0; n < times; n++) found.push((await limited.get(film, as)).status);
      return found;
    };
    expect(new Set(await statuses('bob', 20))).toEqual(new Set([200]));
    clock += 30_000;
    expect(new Set(await statuses('bob', 20))).toEqual(new Set([200]));
    const rejected = await limited.get(film, 'bob');
    expect(rejected).toMatchObject(rejection(429, 112, 'rate_limit_exceeded2', 'GET /v2/movie/subject/1295644'));
    expect(rejected.headers.get('retry-after')).toBe('30');

    expect(new Set(await statuses(null, 40))).toEqual(new Set([200]));
    expect(await statuses(null, 1)).toEqual([429]);
    expect(new Set(await statuses('alice', 60))).toEqual(new Set([200]));
    expect((await limited.get('/v2/book/6082808', 'bob')).status).toBe(200);

    clock += 30_000;
    expect(new Set(await statuses('bob', 20))).toEqual(new Set([200]));
    expect(await statuses('bob', 1)).toEqual([429]);
  });
});

describe('a request', () => {
  test('for an unknown path is answered with 404', async () => {
    expect(await origin.get('/v2/magazine/1')).toMatchObject(
      rejection(404, 1001, 'uri_not_found', 'GET /v2/magazine/1'),
    );
    expect((await origin.get('/v2/book/6082808/')).body.code).toBe(1001);
  });

  test('with a wrong method for a known path is rejected with code 1014', async () => {
    expect(await origin.put('/v2/book/6082808', 'alice', {})).toMatchObject(
      rejection(400, 1014, 'wrong_method', 'PUT /v2/book/6082808'),
    );
    expect((await origin.get('/v2/notes', 'alice')).body.code).toBe(1014);
    expect((await origin.delete('/v2/book/6082808/annotations', 'alice')).body.code).toBe(1014);
  });

  test('is reported in a rejection without its query string', async () => {
    expect((await origin.get('/v2/book/0?fields=title')).body.request).toBe('GET /v2/book/0');
  });
});

describe('the parameter `fields`', () => {
  test('selects the members of a record, keeps their order and ignores unknown names', async () => {
    const { body } = await origin.get('/v2/book/6082808?fields=title,nothing,%20id,rating');
    expect(Object.keys(body)).toEqual(['id', 'title', 'rating']);
  });

  test('selects all members if it contains `all` or is empty', async () => {
    const whole = await origin.get('/v2/book/6082808');
    expect((await origin.get('/v2/book/6082808?fields=all')).body).toEqual(whole.body);
    expect((await origin.get('/v2/book/6082808?fields=id,all')).body).toEqual(whole.body);
    expect((await origin.get('/v2/book/6082808?fields=')).body).toEqual(whole.body);
  });

  test('applies to the items of a list, not to its envelope', async () => {
    const { body } = await origin.get('/v2/book/search?tag=小说&count=2&fields=id');
    expect(body).toEqual({
      start: 0,
      count: 2,
      total: expect.any(Number),
      books: [{ id: expect.any(String) }, { id: expect.any(String) }],
    });
  });

  test('is ignored in the response to a write', async () => {
    const { body } = await origin.post('/v2/book/25862578/collection?fields=id', 'bob', { status: 'wish' });
    expect(body).toHaveProperty('book');
  });
});

describe('a page', () => {
  test('has at most a hundred items, and may be empty', async () => {
    const capped = await origin.get('/v2/book/6082808/annotations?count=500&fields=id');
    expect(capped.body).toMatchObject({ start: 0, count: 100 });
    const beyond = await origin.get('/v2/book/6082808/annotations?start=5000&fields=id');
    expect(beyond.body).toMatchObject({ start: 5000, count: 20, annotations: [] });
    expect((await origin.get('/v2/book/6082808/annotations?count=0')).body.annotations).toEqual([]);
  });

  test.each(['start=-1', 'count=ten', 'start=1.5', 'count=99999999999'])(
    'with invalid parameters is rejected: %s',
    async (window) => {
      expect((await origin.get(`/v2/book/6082808/annotations?${window}`)).body.code).toBe(999);
    },
  );
});

describe('a request body', () => {
  const path = '/v2/book/26356948/collection';

  test.each(['[]', '"wish"', '{"status":', '{"status":["wish"]}', 'nonsense'])(
    'that is JSON but not an object of texts is rejected: %s',
    async (body) => {
      const headers = { authorization: 'Bearer demo-bob', 'content-type': 'application/json' };
      expect((await read(await fetch(origin.url + path, { method: 'POST', headers, body }))).body.code).toBe(999);
    },
  );

  test('that is cut off stores nothing', async () => {
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'application/json', 'content-length': '500' };
    const cut = request(`${origin.url}/v2/notes`, { method: 'POST', headers });
    const before = (await origin.get('/v2/note/user_created/alice', 'alice')).body.total;
    await new Promise((sent) => cut.write('{"title":"half","content":"half"}', sent));
    const closed = new Promise((done) => cut.on('error', () => {}).on('close', done));
    cut.destroy();
    await closed;
    expect((await origin.get('/v2/note/user_created/alice', 'alice')).body.total).toBe(before);
  });

  test('that is a form without its final boundary is rejected and stores nothing', async () => {
    const headers = { authorization: 'Bearer demo-alice', 'content-type': 'multipart/form-data; boundary=x' };
    const body = '--x\r\ncontent-disposition: form-data; name="status"\r\n\r\nwish';
    expect((await read(await fetch(origin.url + path, { method: 'POST', headers, body }))).body.code).toBe(999);
    const without = { authorization: 'Bearer demo-alice', 'content-type': 'multipart/form-data' };
    expect((await read(await fetch(origin.url + path, { method: 'POST', headers: without, body }))).body.code).toBe(
      999,
    );
  });
});

test('an origin that cannot open reports the reason in one line', async () => {
  await expect(service({ port: origin.port })).rejects.toThrow(/^listen EADDRINUSE: .+ 127\.0\.0\.1:\d+$/);
  await expect(service({ dataDir: '/dev/null/data' })).rejects.toThrow(
    /^cannot open the database in \/dev\/null\/data: .+$/,
  );
});
