/** Compresses responses in Node's thread pool, in the encoding that the client prefers. */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { parseAccept } from '../../../lib/media-types.ts';
import { remembering } from '../../../lib/remember.ts';

export type Encoding = 'br' | 'gzip';

type Done = (error: Error | null, result: Buffer) => void;

interface Codec {
  compress: (body: Buffer | string, done: Done) => void;
  /** A stream that emits all that was written at each write. */
  stream: () => Transform;
}

const { constants } = zlib;

/** A window of 64 kB: larger ones cost megabytes for each response, and make the pages of the demo no shorter. */
const brotli = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_LGWIN]: 16,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};

/** In order of preference: the best compression first. */
const codecs: Record<Encoding, Codec> = {
  br: {
    compress: (body, done) => zlib.brotliCompress(body, brotli, done),
    stream: () => zlib.createBrotliCompress({ ...brotli, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
  gzip: {
    compress: (body, done) => zlib.gzip(body, done),
    stream: () => zlib.createGzip({ flush: constants.Z_SYNC_FLUSH }),
  },
};

/** Shorter bodies fit into one packet anyway. */
const MIN_LENGTH = 1_000;

/** Each of these holds up to a megabyte. Beyond them, responses are sent as they are: under load, time is scarcer than bytes. */
const MAX_RUNNING = 32;

/** Chooses the encoding that the client rates highest; of equal ones, the first; undefined for none. */
export const preferredEncoding = remembering((accept): Encoding | undefined => {
  if (!accept) return undefined;
  const ranges = parseAccept(accept);
  const qualityOf = (name: string): number | undefined => ranges.find(({ type }) => type === name)?.quality;
  const rated = (Object.keys(codecs) as Encoding[]).map((encoding) => {
    return { encoding, quality: qualityOf(encoding) ?? qualityOf('*') ?? 0 };
  });
  const best = rated.reduce((a, b) => (b.quality > a.quality ? b : a));
  return best.quality > 0 && best.quality >= (qualityOf('identity') ?? 0) ? best.encoding : undefined;
});

/** A body in an encoding. */
export interface Compressed {
  encoding: Encoding;
  bytes: Buffer;
}

type Outcome = Compressed | undefined;
type Copies = Partial<Record<Encoding, Outcome | Promise<Outcome>>>;

export class Compression {
  private bodies = 0;
  private streams = 0;
  /** Compressed copies of bodies that are sent again. They live as long as those. */
  private readonly copies = new WeakMap<Buffer, Copies>();

  /** Bodies and streams that are being compressed. */
  running(): number {
    return this.bodies + this.streams;
  }

  /** Undefined if the body is to be sent as it is. A compressed copy is kept with a body that will be sent again. */
  compress(body: Buffer | string, accept: string | undefined, isKept: boolean): Outcome | Promise<Outcome> {
    const encoding = !accept || body.length < MIN_LENGTH ? undefined : preferredEncoding(accept);
    if (!encoding) return undefined;
    if (!isKept || typeof body === 'string') return this.start(body, encoding);
    let copies = this.copies.get(body);
    if (!copies) this.copies.set(body, (copies = {}));
    return (copies[encoding] ??= this.start(body, encoding, copies));
  }

  /** A stream for the parts of a response; undefined if they are to be sent as they are. The caller ends or destroys it. */
  open(accept: string | undefined): { encoding: Encoding; stream: Transform } | undefined {
    const encoding = preferredEncoding(accept);
    if (!encoding || this.streams >= MAX_RUNNING) return undefined;
    this.streams++;
    const stream = codecs[encoding].stream();
    stream.once('close', () => this.streams--);
    return { encoding, stream };
  }

  private start(body: Buffer | string, encoding: Encoding, copies?: Copies): Outcome | Promise<Outcome> {
    if (this.bodies >= MAX_RUNNING) return undefined;
    this.bodies++;
    return new Promise((resolve) => {
      codecs[encoding].compress(body, (error, bytes) => {
        this.bodies--;
        const outcome = error ? undefined : { encoding, bytes };
        if (copies) copies[encoding] = outcome;
        resolve(outcome);
      });
    });
  }
}
