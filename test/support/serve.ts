import type { Interceptable } from 'undici';

/** The responses of a service by path; items of `list`, or the record, have the requested `fields` only. */
export type Bodies = Record<string, { list?: string; body: Record<string, unknown>; status?: number }>;

export function serve(service: Interceptable, bodies: Bodies): void {
  for (const [path, { list, body, status = 200 }] of Object.entries(bodies)) {
    service
      .intercept({ path: (requestPath) => requestPath.split('?')[0] === path })
      .reply((request) => {
        const fields = new URLSearchParams(request.path.split('?')[1] ?? '').get('fields')?.split(',');
        const cut = (record: object) =>
          Object.fromEntries(Object.entries(record).filter(([name]) => !fields || fields.includes(name)));
        const data = status !== 200 ? body : list ? { ...body, [list]: (body[list] as object[]).map(cut) } : cut(body);
        return { statusCode: status, data, responseOptions: { headers: { 'content-type': 'application/json' } } };
      })
      .persist();
  }
}

/** The service's response for a film that does not exist. */
export const filmNotFound = { status: 404, body: { code: 5000, msg: 'movie_not_found', request: 'GET /v2/movie' } };
