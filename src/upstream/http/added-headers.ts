/** Headers that the embedding program adds to the calls of a service. They are the same for every caller, because answers are shared. */
import type { Service } from '../errors.ts';

export type HeadersTo = (service: Service) => Readonly<Record<string, string>>;

/** Appends headers to those of a call; names and values alternate. */
export type AddHeaders = (service: Service, headers: string[]) => void;

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Those of the facade, of the connection, and those that change what an answer is. */
const OWN = new Set(
  (
    'accept accept-encoding authorization connection content-encoding content-length content-type cookie expect host if-match ' +
    'if-modified-since if-none-match if-range if-unmodified-since keep-alive proxy-authorization proxy-connection range te traceparent ' +
    'tracestate trailer transfer-encoding upgrade user-agent x-request-id'
  ).split(' '),
);

/** Throws for headers that must not be sent: the call fails, and the log has the sentence. */
export const addedHeaders =
  (headersTo: HeadersTo): AddHeaders =>
  (service, headers) => {
    const added: unknown = headersTo(service);
    // Headers and Map have no members: what is in them would not be sent.
    if (typeof added !== 'object' || added === null || 'then' in added || Symbol.iterator in added)
      throw new TypeError(`headersTo("${service}") must return an object with headers as members, and no promise.`);
    for (const [name, value] of Object.entries(added)) {
      if (OWN.has(name.toLowerCase()))
        throw new TypeError(`headersTo("${service}") must not set ${name.toLowerCase()}.`);
      if (!NAME.test(name) || typeof value !== 'string' || !VALUE.test(value))
        throw new TypeError(`headersTo("${service}") returned a header that cannot be sent: ${JSON.stringify(name)}.`);
      headers.push(name.toLowerCase(), value);
    }
  };
