/**
 * Numbers that are chosen and not offered: a setting beside them limits the same, or nothing that an operator of the service knows would
 * give another one.
 */
export const fixed = {
  // A document: its characters, depth and price are settings.
  /** Nesting of brackets of any kind. */
  maxNesting: 100,
  /** Fields in a document; a fragment counts at each spread. */
  maxFields: 1_000,
  /** Fields of an operation, counted once for each possible type. */
  maxPlannedFields: 3_000,
  maxFragments: 100,
  maxAliases: 60,
  maxRootFields: 30,
  maxMutations: 10,
  maxDirectives: 50,

  // An operation: its calls, bytes and deadline are settings.
  /** How many times MAX_UPSTREAM_CALLS the calls of a query may be that are possible but not likely. */
  possibleCallsFactor: 10,
  /** List items in a response. */
  maxItems: 10_000,
  /** Values in a response: the fields of all items. */
  maxValues: 60_000,
  /** Pictures in a mutation. */
  maxPictures: 12,
  /** The deadline of an operation with files. */
  uploadTimeoutMs: 60_000,

  // Clients: the running operations and the sizes of files are settings.
  /** Requests on further connections are rejected. */
  maxClientConnections: 4_000,
  maxBodyBytes: 1_000_000,
  maxWaitingOperations: 256,
  maxHeaderBytes: 16_384,
  requestHeadersTimeoutMs: 15_000,
  /** For each 256 kB of the body of a request. */
  requestBodyTimeoutMs: 30_000,
  /** A connection without any traffic for this long is closed. */
  connectionTimeoutMs: 90_000,
  /** Response bytes that all clients together have not read, and bytes of request bodies that are arriving. */
  maxUnsentBytes: 100_000_000,

  // Agents. Percent of the film rate limit of a credential, and of MAX_RUNNING_OPERATIONS, for all of them together.
  mcpShare: 25,
  /** The longest result of a tool. */
  mcpResultCharacters: 60_000,

  // Upstream: the deadline of a call, the connections and the first pause after a 429 are settings.
  /** A write has one. */
  readAttempts: 3,
  connectTimeoutMs: 2_000,
  /** The longest pause in the body of a response. */
  bodyTimeoutMs: 5_000,
  /** Decompressed, as is the next. */
  maxJsonBytes: 4_000_000,
  maxAtomBytes: 2_000_000,
  /** How long the absence of a record is cached. */
  absentTtlSeconds: 30,
  /** Consecutive connection errors and timeouts that open the circuit breaker. */
  breakerFailures: 5,
  /** How long the circuit breaker stays open; doubled each time the upstream is still unreachable, up to the next. */
  breakerPauseMs: 1_000,
  maxBreakerPauseMs: 15_000,
  /** The longest pause after a 429, or after a 403 or 503 with Retry-After. */
  maxRetryAfterSeconds: 60,
};

export type Fixed = Readonly<typeof fixed>;

export const CHARACTERS_A_TOKEN = 5;
/** How long after its record a write with a key begins at the latest: `BEGUN_WITHIN_MS`, and 1.5 s for a late reply and a wrong clock. */
export const BEGINS_WITHIN_MS = 2_500;

export type Derived = Readonly<ReturnType<typeof derivedFrom>>;

/** Numbers that follow a setting. */
export const derivedFrom = (given: { maxDocumentCharacters: number; callTimeoutMs: number }) => ({
  maxTokens: Math.ceil(given.maxDocumentCharacters / CHARACTERS_A_TOKEN),
  /** For the headers of a response: a read that gets none has time for another attempt. */
  headersTimeoutMs: Math.ceil(given.callTimeoutMs / 2),
});
