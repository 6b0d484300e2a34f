import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { type ServiceCode, serviceErrors } from '../../src/api/errors.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { toClientError } from '../../src/engine/errors/to-client-error.ts';
import { UpstreamRejection, isAbsent, isDenial, isRateLimit, isTokenRejection } from '../../src/upstream/errors.ts';

const codes = Object.keys(serviceErrors).map(Number) as ServiceCode[];

describe('the row of an error code decides what the code means, also with another status', () => {
  test.each(codes)('%i', (code) => {
    const { client, means, drops } = serviceErrors[code];
    const details = { service: 'catalog', request: 'GET /v2/book/7', status: 400, code } as const;
    const rejection = new UpstreamRejection(details);
    expect(toClientError(rejection)?.extensions.code).toBe(client);
    expect(isDenial(rejection)).toBe(drops);
    expect(isTokenRejection(details)).toBe(means === 'token');
    expect(isRateLimit(details)).toBe(means === 'rate');
    expect(isAbsent(bookEndpoints.byIsbn, 400, code)).toBe(means === 'absent');
    expect(isAbsent(noteEndpoints.byId, 400, code)).toBe(means === 'absent' || means === 'absentNote');
    expect(isAbsent(bookEndpoints.byIsbn, 404, code)).toBe(means !== 'rejected' && means !== 'absentNote');
  });
});
