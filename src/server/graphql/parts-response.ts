/** Responses in parts: as multipart/mixed (RFC 2046), or as server-sent events. */
import { randomBytes } from 'node:crypto';
import type { Exchange } from '../http/exchange.ts';
import type { IncrementalType } from '../http/request/accept.ts';
import { sendStream } from '../http/response/send.ts';
import type { StatusOf } from '../http/response/status.ts';
import { type Outcome, errorHeaders, isWhole, resultText } from './outcome.ts';
import type { ResultParts } from './incremental-delivery.ts';

/** Sends the parts; a client that accepts nothing else gets a whole response as the only part. */
export async function sendParts(
  exchange: Exchange,
  { media, spec }: IncrementalType,
  outcome: Outcome,
  statusOf: StatusOf,
): Promise<void> {
  const { response, headers } = exchange;
  const results = isWhole(outcome) ? [outcome.result] : (outcome.result as ResultParts);
  const { type, body } = media === 'multipart/mixed' ? multipartOf(results) : { type: media, body: eventsOf(results) };
  // nginx would keep short parts until the last one.
  headers.push('content-type', spec ? `${type}; ${spec}` : type, 'x-accel-buffering', 'no');
  if (isWhole(outcome)) {
    headers.push(...errorHeaders(outcome.result));
    // The status of events is that of JSON.
    response.statusCode = statusOf(outcome.result, media === 'multipart/mixed' ? media : 'application/json');
  }
  if (exchange.isOpen) exchange.setHeaders();
  await sendStream(exchange, body);
}

type Results = ResultParts | Iterable<object>;

/**
 * The body, and its media type. The boundary cannot be guessed, so no text of a record can contain it; and it has no hyphens, because some
 * clients look for it without regard to lines.
 */
function multipartOf(results: Results) {
  const boundary = randomBytes(24).toString('hex');
  return { type: `multipart/mixed; boundary="${boundary}"`, body: partsOf(results, boundary) };
}

/** Each part ends with the delimiter of the next one, so that clients need not wait for more to know that it is complete. */
async function* partsOf(results: Results, boundary: string) {
  let delimiter = `\r\n--${boundary}`;
  for await (const result of results) {
    const bytes = Buffer.from(resultText(result));
    const head = `${delimiter}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    yield Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}`)]);
    delimiter = '';
  }
  yield Buffer.from(`${delimiter}--\r\n`);
}

/** The events of the protocol graphql-sse. Some browsers show no headers before the first bytes, so it begins with a comment. */
async function* eventsOf(results: Results) {
  yield Buffer.from(':\n\n');
  for await (const result of results) yield Buffer.from(`event: next\ndata: ${resultText(result)}\n\n`);
  yield Buffer.from('event: complete\ndata:\n\n');
}
