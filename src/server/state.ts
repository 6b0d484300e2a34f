/** What is under way at one moment. Every number comes back to zero when the clients have gone. */
export interface ServerState {
  /** Open connections of clients. */
  connections: number;
  /** Those of them that are not read until it is their turn. */
  connectionsWaiting: number;
  /** Requests whose responses are neither flushed nor given up. */
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
  /** Bytes of responses that clients have yet to take. */
  unsentBytes: number;
  /** Connections on which such bytes wait. */
  unreadConnections: number;
  /** Upstream reads in flight, each counted once however many operations share it. */
  sharedReads: number;
}
