/** Two turns of the event loop later: if this process was busy, responses that have arrived are read before they count as late. */
export const afterPendingReads = (then: () => void): void => void setImmediate(() => setImmediate(then));
