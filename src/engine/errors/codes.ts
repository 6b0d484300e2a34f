/**
 * Every code that an error can carry, and what to do about it. The type of what may be emitted, the page at `/docs/errors`
 * and `docs/errors.md` are made of this one table.
 */

/** The status of a request that was read and cannot be executed. Before 2026 that was a 400. */
export const NOT_EXECUTABLE = 422;

/** The documentation of one code. */
interface CodeNotes {
  /** What happened. The first sentence can be shown to people: it is the message of a rejection. */
  what: string;
  /** What the author of the request does about it. */
  client: string;
  /** What the operator of the facade does about it, if anything; `{maxItems}` stands for a number that is no setting. */
  operator: string | undefined;
  /** The HTTP status of a response that has the error alone, without `data`; undefined if it is an error beside data. */
  status: CodeStatus | undefined;
  retry: Retry;
  advice: Advice;
}

/** By the media type of the response: that of GraphQL, and `application/json`. */
interface CodeStatus {
  graphql: number;
  json: number;
}

/**
 * Whether the same request may help: `no`; `later`, after `retryAfter` seconds or a growing pause; `login`, with a new token; `text`, with
 * the text of the document; `key`, with its idempotency key only.
 */
export type Retry = 'no' | 'later' | 'login' | 'text' | 'key';

/**
 * What a program does that knows no single code: mark the input (`fix-input`); ask for a new login (`log-in`); no longer offer or show what
 * was asked for (`hide`); send the request again, with its text (`retry`) or after a while (`retry-later`); load what was written before it
 * is written again (`look-first`); tell its developers (`report`).
 */
export type Advice = 'fix-input' | 'log-in' | 'hide' | 'retry' | 'retry-later' | 'look-first' | 'report';

export interface CodeGroup {
  title: string;
  codes: Readonly<Record<string, CodeNotes>>;
}

/** Notes without the advice, where it is that of the group. */
type Noted = Omit<CodeNotes, 'advice'> & Partial<Pick<CodeNotes, 'advice'>>;

/** `advice`: what to do about a code that is not to be retried and says nothing else. */
interface Group {
  advice: Advice;
  codes: Readonly<Record<string, Noted>>;
}

const ADVICE: Readonly<Record<Retry, Advice | undefined>> = {
  no: undefined,
  later: 'retry-later',
  login: 'log-in',
  text: 'retry',
  key: 'look-first',
};

const SHOW = 'Show it at the field named in `extensions.violations`, which also has the limit and the actual value.';
const GONE = 'Remove it from the page, or load the list again.';
const REQUEST_LESS = 'Request less at once; `limit` and `actual` have the numbers.';

const exactly = (status: number): CodeStatus => ({ graphql: status, json: status });
/** Statuses of a response to an operation that was not run: clients that accept `application/json` expect 200. */
const NOT_RUN: CodeStatus = { graphql: 422, json: 200 };
/** Statuses of a response to a body that was read and is not a GraphQL request. */
const NO_REQUEST: CodeStatus = { graphql: 422, json: 400 };

type Columns = Partial<Pick<CodeNotes, 'status' | 'retry' | 'advice'>>;

/** What happened, what the client does, what the operator does; a column that is left out is that of an error beside data. */
const notes = (
  what: string,
  client: string,
  operator?: string,
  { status, retry = 'no', advice }: Columns = {},
): Noted => ({ what, client, operator, status, retry, ...(advice && { advice }) });

/** Notes on a code about which the operator can do nothing. */
const clientNotes = (what: string, client: string, columns: Columns): Noted => notes(what, client, undefined, columns);

const table = {
  Input: {
    advice: 'fix-input',
    codes: {
      BAD_USER_INPUT: notes(
        'An argument or variable is invalid: a malformed id, a wrong ISBN, `first: 0`, a cursor of another list. No call was made. For a variable HTTP 422 (200 for `application/json`), without `data`.',
        'Correct it; the message says what is valid. Do not retry.',
      ),
    },
  },
  'Login and permissions': {
    advice: 'hide',
    codes: {
      LOGIN_REQUIRED: notes(
        'Notes and every write need a user, and the request has no token.',
        'Log in and send `Authorization: Bearer <token>`.',
        'Nothing: `ACCESS_TOKEN` never acts for a user.',
        { retry: 'login' },
      ),
      UNAUTHENTICATED: notes(
        'The service does not accept the token. It is unknown or expired; or `Authorization` is not `Bearer <token>`, so it was not sent to the service.',
        'Get a new token and send the request again.',
        'If requests without a token get it, `ACCESS_TOKEN` has expired or been revoked.',
        { retry: 'login' },
      ),
      FORBIDDEN: notes(
        'The service does not allow the user to do this.',
        'Do not offer this to the user, and do not retry.',
        'If every user gets this error, the tokens lack a scope: `upstream.request` has the call.',
      ),
      OPERATION_FORBIDDEN: notes(
        'The program that embeds the facade does not allow the caller to run this operation. The message has its reason.',
        'Do not offer it to this user, and do not retry.',
        'The hook `authorize` of `createFacade` has refused it.',
        { status: exactly(403) },
      ),
    },
  },
  'Film tiers': {
    advice: 'hide',
    codes: {
      TIER_REQUIRED: notes(
        'The film tier of the token does not get the field. `tiers` lists the tiers that do. There is one error for a field of a list, not one for each item.',
        'Leave the field out, or use a token of such a tier.',
        'Requests without a token have the tier of `ACCESS_TOKEN`, which `FILM_TIER` names.',
      ),
    },
  },
  'Rate limit': {
    advice: 'retry-later',
    codes: {
      RATE_LIMITED: notes(
        'The rate limit of the service is reached. It is that of the token, or of the address: `upstream.message` says which. The rest of the response is not affected.',
        'Retry after `retryAfter` seconds, not sooner, and only the missing part.',
        'See `catalog_rate_limited_total`. With several replicas set `REDIS_URL`, so that they share the limit. A higher film tier has no such limit.',
        { retry: 'later' },
      ),
    },
  },
  Collections: {
    advice: 'fix-input',
    codes: {
      COLLECTION_EXISTS: clientNotes(
        'The book is already on the shelf.',
        'Load the collection by `existing.id` (present if the facade knows the caller), or send `onConflict: KEEP`. `onConflict: UPDATE` and `updateCollection` change what they name; `onConflict: REPLACE` and `replaceCollection` replace the whole entry.',
        { advice: 'look-first' },
      ),
      COLLECTION_NOT_FOUND: notes(
        'The book is not on the shelf. A token without the scope to write books gets the same code, because the service does not distinguish these cases.',
        'Remove it from the page. Put it back, with `collectBook`, only if the user says so.',
        'If every user gets this error, the tokens lack the scope `book_basic_w`.',
        { advice: 'hide' },
      ),
      COMMENT_TOO_LONG: notes(
        'A comment has more than 350 characters (code points). `actual` is 10,000 for all texts of at least that length.',
        SHOW,
      ),
      RATING_OUT_OF_RANGE: notes('A rating is not from 1 to 5.', SHOW),
      INVALID_TAG: notes('A tag contains a space or is empty. The service separates tags by spaces.', SHOW),
      TOO_MANY_TAGS: notes('A collection has more than 100 tags.', SHOW),
    },
  },
  'Annotations and reviews': {
    advice: 'fix-input',
    codes: {
      ANNOTATION_TOO_SHORT: notes('The text of an annotation has 15 characters (code points) or fewer.', SHOW),
      INVALID_PAGE_NUMBER: notes('A page is not a positive number of at most six digits.', SHOW),
      CHAPTER_TOO_LONG: notes('The name of a chapter has more than 100 characters (code points).', SHOW),
      PAGE_OR_CHAPTER: notes('Both a page and a chapter are given.', 'Give one of them.'),
      REVIEW_TOO_SHORT: notes('The text of a review has 150 characters (code points) or fewer.', SHOW),
    },
  },
  'Texts and ownership': {
    advice: 'fix-input',
    codes: {
      MISSING_ARGUMENT: notes('A required value is missing or empty.', SHOW),
      CONFLICT: notes(
        'The record was changed since you read it. Nothing was written.',
        'Show the user `extensions.current`, the present values of the fields that differ, and send the change again with `extensions.revision`.',
        undefined,
        { advice: 'look-first' },
      ),
      CHANGE_IN_PROGRESS: notes(
        'Other changes of the record run, and too many wait, or for too long. Nothing was written.',
        'Send the change again after `retryAfter` seconds.',
        undefined,
        { retry: 'later' },
      ),
      PRESENT_VALUE_UNKNOWN: notes(
        'What the input leaves out cannot be kept, because the service does not show it for certain.',
        'Give the fields named in `extensions.violations`, or use `replace…`. Nothing was written.',
      ),
      INVALID_TEXT: notes(
        'A text has characters that are not allowed. Its bytes are not UTF-8, or it has an unpaired surrogate or U+0000, or the text of an event has a character that XML does not allow, such as most control characters.',
        'Remove such characters from the text; send UTF-8.',
      ),
      COMMENT_NOT_ALLOWED: notes(
        'This note takes no comments from this user. As a rule its author has turned comments off: `Note.canReply` is false.',
        'Offer comments only where `Note.canReply` is true.',
        'If `canReply` is true, the token may lack a scope: `upstream.request` has the call.',
        { advice: 'hide' },
      ),
      NOT_OWNER: clientNotes('The record belongs to another user.', 'Offer the change only to its author.', {
        advice: 'hide',
      }),
    },
  },
  'Not found': {
    advice: 'hide',
    codes: {
      BOOK_NOT_FOUND: notes('There is no such book.', GONE),
      REVIEW_NOT_FOUND: notes('There is no such review.', GONE),
      ANNOTATION_NOT_FOUND: notes(
        'There is no such annotation. Or it is private to another user. A token without the scope to write books gets the same code.',
        GONE,
        'If every user gets this error, the tokens lack the scope `book_basic_w`.',
      ),
      NOTE_NOT_FOUND: notes('There is no such note.', GONE),
      COMMENT_NOT_FOUND: notes(
        'There is no such comment. The service does not say whether it is the comment or its note that is gone.',
        GONE,
      ),
      EVENT_NOT_FOUND: notes('There is no such event.', GONE),
      PERSON_NOT_FOUND: notes('There is no such person.', GONE),
      SUBJECT_NOT_FOUND: notes('There is no such film.', GONE),
      PHOTO_NOT_LISTED: notes(
        'The next or previous photo is not among the first 100 of its film or person. The service has no operation for one photo, so only its id is known.',
        'Select its `id` alone, or load the page of `photos` that has it.',
      ),
    },
  },
  Events: {
    advice: 'fix-input',
    codes: {
      NO_CITY: notes(
        'An event is created in the city of its creator, and this user has no city.',
        'Let the user choose a city first.',
      ),
      EVENT_TIMES: notes('The event ends before it starts.', SHOW),
      EVENT_EXPIRED: clientNotes(
        'The service does not let this user change the event. It is over, or it belongs to another user.',
        'Offer the change only for future events, and only to their creator.',
        { advice: 'hide' },
      ),
    },
  },
  Pictures: {
    advice: 'fix-input',
    codes: {
      PICTURE_TOO_LARGE: notes('A picture has 3 MB or more.', 'Scale the picture down.'),
      PICTURE_TYPE: notes(
        'The first bytes of a picture are not those of a JPEG, PNG, GIF or WebP. The name of the file does not matter.',
        'Convert the picture.',
      ),
      PICTURE_NUMBER_USED: notes(
        'Two pictures have the same number, or a number is already in use.',
        'Give the pictures other numbers.',
      ),
      INVALID_PICTURE_NUMBER: notes('The number of a picture is not a positive number of at most six digits.', SHOW),
      TOO_MANY_PICTURES: notes(
        'A mutation has too many pictures.',
        'Send the rest with `addNotePictures`.',
        'The limit is {maxPictures}.',
      ),
      BAD_UPLOAD: notes(
        'The files of the request cannot be read. It is not a GraphQL multipart request, or one of its files is missing, mapped to a variable that has one, or truncated.',
        'Send `operations`, `map` and then the files, in any order.',
        'If large uploads are truncated, a proxy in front may limit bodies: compare its limit with `MAX_UPLOAD_BYTES`.',
        { status: exactly(400), advice: 'report' },
      ),
      UPLOAD_TOO_LARGE: notes(
        'The files of a request, or its map, are too large.',
        'Send fewer or smaller files at once.',
        'The files have at most `MAX_UPLOAD_BYTES`, the map 10,000 bytes.',
        { status: exactly(413) },
      ),
    },
  },
  'The service': {
    advice: 'report',
    codes: {
      UPSTREAM_TIMEOUT: notes(
        'The service did not respond in time. The rest of the response is not affected.',
        'Retry the missing part, with growing pauses.',
        'See `catalog_upstream_seconds`. The limits are {connectTimeoutMs} ms to connect, half of `CALL_TIMEOUT_MS` for headers, {bodyTimeoutMs} ms without a byte of the body, `CALL_TIMEOUT_MS` and `OPERATION_TIMEOUT_MS`.',
        { retry: 'later' },
      ),
      UPSTREAM_UNAVAILABLE: notes(
        'The service is not available. It is unreachable, or reports a failure, or has asked for a pause, or a gateway before it answers with 4xx and no error code of the service. The rest of the response is not affected.',
        'Retry the missing part, with growing pauses; if there is a `retryAfter`, not sooner than after so many seconds.',
        'If `upstream.status` is 401, 403 or 404, the address in `BASE_URL` may be wrong, or a firewall answers. `/ready` shows which service is unreachable, the log since when. After {breakerFailures} consecutive failures the circuit breaker stays open for {breakerPauseMs} to {maxBreakerPauseMs} ms.',
        { retry: 'later' },
      ),
      UPSTREAM_INVALID_RESPONSE: notes(
        'The service sent something other than what was requested. It is neither JSON nor Atom, another record, a record without its id, a list without its items, a body too large or too deep, a redirect. It is not cached; the rest of the response is not affected.',
        'Retrying seldom helps.',
        'If every call fails so, `BASE_URL` or `EVENT_BASE_URL` is wrong. The limits are {maxJsonBytes} bytes of JSON and {maxAtomBytes} of Atom.',
      ),
    },
  },
  'A write without a response': {
    advice: 'look-first',
    codes: {
      UPSTREAM_RESULT_UNKNOWN: notes(
        'It is unknown whether the write was carried out. It was sent, and its response was lost or had a status 5xx. It was not sent again. Without an idempotency key, a 503 with an error code of the service counts as not carried out: `UPSTREAM_UNAVAILABLE`.',
        'With an idempotency key, send it again with the same key after `retryAfter` seconds; without `retryAfter`, show the user what `upstream.lookAt` names. Without a key, load the record before writing again.',
        'The connection to the service, or a gateway in front of the service, loses responses.',
        { retry: 'key' },
      ),
    },
  },
  'Idempotency keys': {
    advice: 'report',
    codes: {
      BAD_IDEMPOTENCY_KEY: clientNotes(
        'The header `Idempotency-Key` does not have 16 to 255 visible ASCII characters, in quotes or without. Nothing was run.',
        'Send a UUID, a new one for each write that the user makes.',
        { status: exactly(400) },
      ),
      IDEMPOTENCY_KEY_REUSED: clientNotes(
        'The key was used for something else, or by somebody else. Nothing was sent.',
        'Use a new key for each write. Retry with exactly what was sent first.',
        { status: exactly(422) },
      ),
      IDEMPOTENCY_IN_PROGRESS: clientNotes(
        'A write with the key still runs. Nothing was sent.',
        'Send it again after `retryAfter` seconds, with the same key.',
        { status: exactly(409), retry: 'later' },
      ),
      IDEMPOTENCY_KEY_UNKNOWN: notes(
        'The writes with the key are done and the response is not kept, or it cannot be said whether they were yours: the token is another one, and the service has not named the person yet. Nothing was sent.',
        'Do not write again. Load the record. A response to a renewed token that names the person makes the key yours.',
        'A Redis that evicts keys forgets them: set `IDEMPOTENCY_REDIS_URL` to one with `maxmemory-policy noeviction`.',
        { status: exactly(409), advice: 'look-first' },
      ),
      TOO_MANY_IDEMPOTENCY_KEYS: notes(
        'Too many keys are kept for the token, for all tokens that the service has not accepted, or in all. Nothing was sent.',
        'Settle the open writes, with their keys; send others later.',
        'Lower `IDEMPOTENCY_TTL_SECONDS`.',
        { status: exactly(429), retry: 'later' },
      ),
      TOO_MANY_KEYED_WRITES: clientNotes(
        'Too many writes with keys of the caller run. Nothing was sent.',
        'Send it again after `retryAfter` seconds, with the same key.',
        { status: exactly(429), retry: 'later' },
      ),
      IDEMPOTENCY_UNAVAILABLE: notes(
        'Redis, which has the keys, cannot be reached. The write was not sent. Its status is that of a request of which nothing was run.',
        'Send it again with the same key, after a pause.',
        'The log and `catalog_redis_up` show the state of Redis.',
        { status: exactly(503), retry: 'later' },
      ),
    },
  },
  'Other rejections': {
    advice: 'report',
    codes: {
      UPSTREAM_REFUSED: notes(
        'The service rejected the request. `upstream.code` has the number of its error, `upstream.message` the text.',
        'Show that the request failed. Do not retry.',
        'Look the number up in the interface of the service.',
      ),
    },
  },
  Documents: {
    advice: 'report',
    codes: {
      GRAPHQL_PARSE_FAILED: clientNotes(
        'The document is not GraphQL. `locations` says where.',
        'Correct the document.',
        { status: { graphql: 400, json: 200 } },
      ),
      GRAPHQL_VALIDATION_FAILED: notes(
        `The document does not match the schema: an unknown field, argument or type, or a variable of a wrong type.`,
        'Check documents against `schema.graphql`, best when the front end is built.',
        '`INTROSPECTION` decides how much of the schema a client sees.',
        { status: NOT_RUN },
      ),
      OPERATION_RESOLUTION_FAILURE: clientNotes(
        `The document has several operations and no name was sent, or no operation of that name.`,
        'Send `operationName`.',
        { status: NO_REQUEST },
      ),
    },
  },
  'Persisted documents': {
    advice: 'report',
    codes: {
      PERSISTED_QUERY_NOT_FOUND: notes(
        'No document with this hash or id is known. The status lets clients send the text; for an unknown `documentId` it is 422 (200 for `application/json`).',
        'Send the hash once with the text; the usual clients do that automatically.',
        'For trusted documents: the manifest in `PERSISTED_OPERATIONS` is older than the client.',
        { status: exactly(200), retry: 'text' },
      ),
      PERSISTED_QUERY_NOT_SUPPORTED: notes(
        'The facade does not store documents by hash. The status lets clients send the text.',
        'Send the text of each document.',
        'The setting is `AUTOMATIC_PERSISTED_QUERIES`.',
        { status: exactly(200), retry: 'text' },
      ),
      PERSISTED_QUERY_HASH_MISMATCH: clientNotes(
        `The hash is not the SHA-256 of the text that came with it.`,
        'Compute it from the text as sent, and write it in lower-case hex.',
        { status: NO_REQUEST },
      ),
      PERSISTED_ONLY: notes(
        'The facade runs only documents of its manifest.',
        'Add the document to the manifest, and send its hash.',
        '`PERSISTED_ONLY` turns this on, `PERSISTED_OPERATIONS` names the manifest.',
        { status: exactly(403) },
      ),
    },
  },
  'Old clients': {
    advice: 'hide',
    codes: {
      CLIENT_TOO_OLD: notes(
        'This version of the app is too old. `minVersion` is the oldest that may still be used, `update` the address of the new one, if there is one.',
        'Ask the user to update the app, and offer `update`; send nothing more.',
        'The setting is `MIN_CLIENTS`; `CLIENT_UPDATE_URLS` has the addresses.',
        { status: exactly(403) },
      ),
    },
  },
  'Limits of an operation': {
    advice: 'report',
    codes: {
      TOO_MANY_CALLS: notes(
        `The operation needs more calls than allowed. A query is rejected if it is likely to make more, or could make many times as many, a mutation if it could make more: no call was made, \`likely\` and \`most\` are its calls, \`field\` and \`coordinate\` name the most expensive field. Beside data: it has made as many calls as it may, and this field was not loaded.`,
        'Request smaller pages (`first`), or the most expensive field in a request of its own. `x-explain: plan` shows the cost of each field.',
        'The limits are `MAX_UPSTREAM_CALLS` and, for what is possible but not likely, {possibleCallsFactor} times as many.',
        { status: NOT_RUN },
      ),
      TOO_MANY_ITEMS: notes(
        `The response could have more list items than allowed: the sizes of nested pages are multiplied. \`field\` and \`coordinate\` name the largest list. No call was made.`,
        'Request smaller pages (`first`), or the inner lists in requests of their own.',
        'The limit is {maxItems}.',
        { status: NOT_RUN },
      ),
      TOO_MANY_VALUES: notes(
        `The response could have too many values: the fields of all items count, introspection too. \`field\` and \`coordinate\` name the largest part. No call was made, unless lists turned out longer than estimated.`,
        'Request smaller pages (`first`), or fewer fields of each item.',
        'The limit is {maxValues}.',
        { status: NOT_RUN },
      ),
      ANSWER_TOO_LARGE: notes(
        'The response is too large, because of long texts or many of them, and was not sent. A mutation has been carried out nevertheless.',
        'Request smaller pages (`first`), or long texts in requests of their own.',
        'The limit is `MAX_RESPONSE_BYTES`.',
      ),
      TOO_DEEP: notes(`Fields are nested too deep.`, REQUEST_LESS, 'The limit is `MAX_DEPTH`.', { status: NOT_RUN }),
      TOO_MANY_FIELDS: notes(
        `The document or the operation has too many fields. In a document, those of a fragment count at each spread; in an operation, each field counts once for each possible type.`,
        REQUEST_LESS,
        'The limits are {maxFields} and, counted once for each possible type, {maxPlannedFields}. Fields of the same name are compared; an error for too many comparisons has no numbers.',
        { status: NOT_RUN },
      ),
      TOO_MANY_ROOT_FIELDS: notes(
        `The operation has too many fields at its root.`,
        'Use `nodes(ids:)` for many records, or several requests.',
        'The limit is {maxRootFields}.',
        { status: NOT_RUN },
      ),
      TOO_MANY_MUTATIONS: notes(
        `The operation has too many mutations.`,
        'Send several requests.',
        'The limit is {maxMutations}.',
        { status: NOT_RUN },
      ),
      TOO_MANY_ALIASES: notes(`The document has too many aliases.`, REQUEST_LESS, 'The limit is {maxAliases}.', {
        status: NOT_RUN,
      }),
      TOO_MANY_FRAGMENTS: notes(`The document has too many fragments.`, REQUEST_LESS, 'The limit is {maxFragments}.', {
        status: NOT_RUN,
      }),
      TOO_MANY_DIRECTIVES: notes(
        `The document has too many directives.`,
        REQUEST_LESS,
        'The limit is {maxDirectives}.',
        { status: NOT_RUN },
      ),
      TOO_MANY_TOKENS: notes(
        `The document has too many tokens.`,
        'Shorten it, and send values in variables.',
        'The limit follows `MAX_DOCUMENT_CHARACTERS`.',
        { status: NOT_RUN },
      ),
      DOCUMENT_TOO_LONG: notes(
        `The document has too many characters.`,
        'Shorten it, and send values in variables.',
        'The limit is `MAX_DOCUMENT_CHARACTERS`.',
        { status: NOT_RUN },
      ),
    },
  },
  Explain: {
    advice: 'report',
    codes: {
      PLANNED_NOT_RUN: notes(
        'The request has `x-explain: plan`: nothing was run. `extensions.upstream` has the calls that it would make, `answer` the size that the response could have. `limit` is the most calls that are allowed, if it would be rejected for its calls; `stopsAt` how many it makes at most, if more are possible. `hints` say what would make a dear query cheaper: a smaller `first` at a list, or fields to leave out, each with the likely and the most calls (`calls`) that remain.',
        'Leave the header out to run the operation.',
        '`EXPLAIN` turns the header on and off.',
      ),
      BAD_EXPLAIN: notes(
        'The header `x-explain` is neither `plan` nor `trace`, or it requests the plan of a mutation while `EXPLAIN` is off. Nothing was run.',
        'Send one of the two, or leave the header out.',
        '`EXPLAIN` turns the header on and off; while it is off, queries run as if there were no header.',
        { status: exactly(400) },
      ),
    },
  },
  Requests: {
    advice: 'report',
    codes: {
      BAD_REQUEST: clientNotes(
        `The request has no \`query\`, or members of a wrong type. HTTP 400 in any case if its body is not JSON; 405 for a mutation by GET; 417 for a header \`Expect\` other than \`100-continue\`.`,
        'Send a JSON object with `query`, and `variables` if there are any. Send mutations by POST.',
        { status: NO_REQUEST },
      ),
      NOT_ACCEPTABLE: clientNotes(
        'The header `Accept` has no media type that the response can have. Nothing was run.',
        'Accept `application/json`.',
        { status: exactly(406) },
      ),
      BATCHING_OFF: clientNotes(
        `The body is a list of operations.`,
        'Send one operation a request, or several fields in one operation.',
        { status: NO_REQUEST },
      ),
      METHOD_NOT_ALLOWED: clientNotes('The method is not listed in `Allow`.', 'Use GET or POST.', {
        status: exactly(405),
      }),
      ORIGIN_NOT_ALLOWED: notes(
        'The `Host` of a request to `/mcp` is not that of the facade, or the request comes from a page of another origin.',
        'Use the URL that the operator publishes.',
        '`MCP_URL` names the public host, `CORS_ORIGINS` the origins of other pages.',
        { status: exactly(403) },
      ),
      CSRF_HEADER_REQUIRED: clientNotes(
        'A form or a bare document was sent without a header that pages of other sites cannot send.',
        'Send `application/json`, or add `x-graphql-csrf: 1`.',
        { status: exactly(415) },
      ),
      UNSUPPORTED_MEDIA_TYPE: clientNotes('The media type of the body is not supported.', 'Send `application/json`.', {
        status: exactly(415),
      }),
      UNSUPPORTED_ENCODING: clientNotes('The body is compressed.', 'Send it without `Content-Encoding`.', {
        status: exactly(415),
      }),
      BODY_TOO_LARGE: notes(
        'The body is too large.',
        'Send less; send pictures in a multipart request.',
        'The limit is {maxBodyBytes}.',
        { status: exactly(413), advice: 'fix-input' },
      ),
      HEADERS_TOO_LARGE: notes(
        'The headers are too large, or more than 500. The status is 414 if the URL alone is too large.',
        'Send fewer: cookies of other applications are the usual cause.',
        'The limit of their size is {maxHeaderBytes} bytes.',
        { status: exactly(431) },
      ),
      REQUEST_TIMEOUT: notes(
        'The headers, the body or the files arrived too slowly.',
        'Try again over a better connection.',
        'Headers have {requestHeadersTimeoutMs} ms; a body brings 256 kB in each {requestBodyTimeoutMs} ms, or its end.',
        { status: exactly(408), retry: 'later' },
      ),
      NOT_FOUND: notes(
        'There is nothing at this path.',
        'The graph is at `/graphql`.',
        'Usually a proxy in front of the facade changes paths.',
        { status: exactly(404) },
      ),
      CLIENT_LEFT: notes(
        'The client disconnected before its operation started. Nobody receives this error; its status is in the metrics.',
        'Nothing: the connection is closed, so nobody reads it.',
        'If there are many, clients time out before their operations start.',
        { status: exactly(499) },
      ),
    },
  },
  Load: {
    advice: 'retry-later',
    codes: {
      OVERLOADED: notes(
        'The facade is overloaded. Nothing was run.',
        'Retry after `Retry-After` seconds; that is safe for writes too.',
        'Add replicas. The limits are `MAX_RUNNING_OPERATIONS` and {maxWaitingOperations} waiting, {maxClientConnections} connections and, of uploads, `MAX_HELD_UPLOAD_BYTES`.',
        { status: exactly(503), retry: 'later' },
      ),
    },
  },
  'Internal errors': {
    advice: 'report',
    codes: {
      INTERNAL_SERVER_ERROR: notes(
        'A defect of the facade. The cause is in the log under `requestId`, not in the response.',
        'Report the `requestId`. The rest of the response is not affected.',
        'Look up the `requestId` in the log, and report the cause.',
      ),
    },
  },
} as const satisfies Record<string, Group>;

type KeysOf<T> = T extends unknown ? keyof T : never;
/** A code that an error may carry. */
export type ClientCode = KeysOf<(typeof table)[keyof typeof table]['codes']>;

export const codeGroups: readonly CodeGroup[] = Object.entries<Group>(table).map(([title, { advice, codes }]) => ({
  title,
  codes: Object.fromEntries(
    Object.entries(codes).map(([code, row]) => [code, { ...row, advice: row.advice ?? ADVICE[row.retry] ?? advice }]),
  ),
}));

const notesByCode = new Map(codeGroups.flatMap(({ codes }) => Object.entries(codes)));

const RETRY_TEXTS: Readonly<Record<Retry, string | undefined>> = {
  no: undefined,
  later: 'After a pause, of `retryAfter` seconds if it is given.',
  login: 'With a new token.',
  text: 'With the text of the document.',
  key: 'With its idempotency key only.',
};

/** Status, retry and advice as the pages say them: each with its name. */
export const columnsOf = ({
  status,
  retry,
  advice,
}: Pick<CodeNotes, 'status' | 'retry' | 'advice'>): readonly (readonly [name: string, text: string])[] => {
  const json = status && status.json !== status.graphql ? ` (${status.json} for \`application/json\`)` : '';
  const retried = RETRY_TEXTS[retry];
  return [
    ...(status ? ([['Status', `${status.graphql}${json}, without \`data\`.`]] as const) : []),
    ...(retried ? ([['Retry', retried]] as const) : []),
    ['Advice', `\`${advice}\``],
  ];
};

export const clientCodes = [...notesByCode.keys()] as readonly ClientCode[];

export const isClientCode = (code: unknown): code is ClientCode => notesByCode.has(code as string);

/** Undefined for an unknown code. */
export const notesOn = (code: string): CodeNotes | undefined => notesByCode.get(code);

/** The sentence of a code that can be shown to people; undefined for an unknown code. */
export const messageOf = (code: string): string | undefined => notesByCode.get(code)?.what.replace(/(?<=\.) .*/s, '');
