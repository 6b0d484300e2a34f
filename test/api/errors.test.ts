import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { type ServiceCode, serviceErrors } from '../../src/api/errors.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import type { ClientCode } from '../../src/engine/errors/codes.ts';
import { toClientError } from '../../src/engine/errors/to-client-error.ts';
import { UpstreamRejection, isAbsent, isForbidden, isRateLimit, isTokenRejection } from '../../src/upstream/errors.ts';

const codes = Object.keys(serviceErrors).map(Number) as ServiceCode[];

describe('the row of an error code decides what the code means, also with another status', () => {
  test.each(codes)('%i', (code) => {
    const row = serviceErrors[code];
    const { client, means, drops } = row;
    const details = { service: 'catalog', request: 'GET /v2/book/7', status: 400, code, row } as const;
    const isRejected = means === 'rejected' || means === 'permission' || means === 'scope';
    const rejection = new UpstreamRejection(details);
    expect(toClientError(rejection)?.extensions.code).toBe(client satisfies ClientCode);
    expect(isForbidden(rejection)).toBe(drops);
    expect(isTokenRejection(details)).toBe(means === 'token');
    expect(isRateLimit(details)).toBe(means === 'rate');
    expect(isAbsent(bookEndpoints.byIsbn, 400, code, row)).toBe(means === 'absent');
    expect(isAbsent(noteEndpoints.byId, 400, code, row)).toBe(means === 'absent' || code === 1006);
    expect(isAbsent(bookEndpoints.byIsbn, 404, code, row)).toBe(!isRejected);
  });
});
