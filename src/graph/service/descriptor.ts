/** The catalog, as engine, upstream and server know it. `server/core.ts` hands it to `createUpstream`; no other file of theirs imports it. */
import { atomDocuments } from '../../atom/media.ts';
import { bookEndpoints } from '../../api/book.ts';
import type { Endpoint } from '../../api/endpoint.ts';
import { serviceErrors } from '../../api/errors.ts';
import { eventEndpoints } from '../../api/event.ts';
import { BASIC_CALLS_A_MINUTE, filmEndpoints } from '../../api/film.ts';
import { filmTiers } from '../../api/film-tiers.ts';
import { noteEndpoints } from '../../api/note.ts';
import type { ServiceDescriptor } from '../../api/service-descriptor.ts';

const tables = [bookEndpoints, filmEndpoints, noteEndpoints, eventEndpoints];

export const catalogService: ServiceDescriptor = {
  endpoints: tables.flatMap((table) => Object.values<Endpoint>(table as never)),
  errors: serviceErrors,
  documents: atomDocuments,
  tiers: filmTiers,
  basicCallsAMinute: BASIC_CALLS_A_MINUTE,
};
