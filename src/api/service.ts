/** The catalog, as engine, upstream and server know it. Only programs import it: they hand it to `createUpstream`. */
import { PICTURE_BELOW, bookEndpoints } from './book.ts';
import type { Endpoint } from './endpoint.ts';
import { serviceErrors } from './errors.ts';
import { eventEndpoints } from './event.ts';
import { BASIC_CALLS_A_MINUTE, filmEndpoints } from './film.ts';
import { noteEndpoints } from './note.ts';
import type { ServiceDescriptor } from './service-descriptor.ts';

const tables = [bookEndpoints, filmEndpoints, noteEndpoints, eventEndpoints];

export const catalogService: ServiceDescriptor = {
  endpoints: tables.flatMap((table) => Object.values<Endpoint>(table as never)),
  errors: serviceErrors,
  basicCallsAMinute: BASIC_CALLS_A_MINUTE,
  uploadBytesBelow: PICTURE_BELOW,
};
