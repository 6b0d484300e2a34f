/** Responses in parts as multipart/mixed (RFC 2046). */
import { randomBytes } from 'node:crypto';
import { resultText } from './outcome.ts';
import type { ResultParts } from './incremental-delivery.ts';

/**
 * The body, and its media type. The boundary cannot be guessed, so no text of a record can contain it; and it has no hyphens, because some
 * clients look for it without regard to lines.
 */
export function multipartOf(results: ResultParts) {
  const boundary = randomBytes(24).toString('hex');
  const parts = partsOf(results, boundary);
  return {
    type: `multipart/mixed; boundary="${boundary}"`,
    body: new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await parts.return()),
    }),
  };
}

/** Each part ends with the delimiter of the next one, so that clients need not wait for more to know that it is complete. */
async function* partsOf(results: ResultParts, boundary: string) {
  let delimiter = `\r\n--${boundary}`;
  for await (const result of results) {
    const bytes = Buffer.from(resultText(result));
    const head = `${delimiter}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    yield Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}`)]);
    delimiter = '';
  }
  yield Buffer.from(`${delimiter}--\r\n`);
}
