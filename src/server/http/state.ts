/** What is in progress at one moment. Every number returns to zero when all clients have gone. */
export interface ServerState {
  /** Open connections of clients. */
  connections: number;
  /** Paused connections, waiting for their turn to be read. */
  connectionsWaiting: number;
  /** Requests whose responses are neither flushed nor abandoned. */
  requestsRunning: number;
  /** Operations that hold a slot. */
  operationsRunning: number;
  /** Operations that wait for a slot. */
  operationsWaiting: number;
  /** Timers of request bodies, operations, slots and upstream calls. */
  deadlines: number;
  /** Upstream calls that hold a permit. */
  callsRunning: number;
  /** Upstream calls that wait for a permit. */
  callsWaiting: number;
  /** Response bytes that clients have not read yet. */
  unsentBytes: number;
  /** Connections with unread bytes. */
  unreadConnections: number;
  /** Response bodies and streams that are being compressed. */
  compressionsRunning: number;
  /** Upstream reads in flight. A read shared by several operations counts once. */
  sharedReads: number;
}
