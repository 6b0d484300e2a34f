/** What /usage responds with: which operations which clients sent, and the upstream calls that they made. */

export interface UsageReport {
  /** Nothing is known of the time before. */
  since: string;
  until: string;
  operations: UsedOperation[];
}

export interface UsedOperation {
  /** That of the operation if the operator knows it, else `other`. */
  name: string;
  client: string;
  version: string;
  requests: number;
  /** Upstream calls that were sent. */
  calls: number;
  /** When it was last sent, in ISO 8601. */
  last: string;
}
