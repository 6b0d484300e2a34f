import type { UpstreamClient } from '../../../upstream/client.ts';
import type { Admission } from './admission.ts';
import type { HttpServer } from './http-server.ts';
import type { BodyReader } from '../request/body.ts';
import type { UploadMemory } from '../request/upload-memory.ts';

export type ServerState = ReturnType<typeof serverState>;

interface Watched {
  http: HttpServer;
  admission: Admission;
  bodies: BodyReader;
  uploads: UploadMemory;
  upstream: UpstreamClient;
}

/** What is in progress at one time. Every number returns to zero when all clients have gone. */
export function serverState({ http, admission, bodies, uploads, upstream }: Watched) {
  const { catalog, events } = upstream.state();
  return {
    /** Open connections of clients. */
    connections: http.connections.size(),
    /** Requests whose responses are not flushed. */
    requestsRunning: http.connections.exchanges().length,
    /** Operations that hold a slot. */
    operationsRunning: admission.running(),
    /** Operations that wait for a slot. */
    operationsWaiting: admission.waiting(),
    /** Request bodies that are arriving. */
    bodiesReading: bodies.reading(),
    /** Upstream calls that hold a permit. */
    callsRunning: catalog.running + events.running,
    /** Upstream calls that wait for a permit. */
    callsWaiting: catalog.waiting + events.waiting,
    /** Response bytes that clients have not read yet. */
    unsentBytes: http.unsent.bytes,
    /** Bytes of uploaded files in memory. */
    heldUploadBytes: uploads.bytes,
    /** Response bodies and streams that are being compressed. */
    compressionsRunning: http.compression?.running() ?? 0,
    /** Upstream reads in flight. A read shared by several operations counts once. */
    sharedReads: upstream.sharedReads(),
  };
}
