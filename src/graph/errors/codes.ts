/**
 * Every code that an error can carry, and what to do about it. The type of what may be emitted, the page at `/docs/errors`
 * and `docs/errors.md` are made of this one table.
 */

/** What there is to say of one code. */
export interface CodeNotes {
  /** What happened. */
  what: string;
  /** What whoever wrote the request does about it. */
  client: string;
  /** What whoever runs the facade does about it. */
  operator: string;
}

export interface CodeGroup {
  title: string;
  /** All of them in a line, for the top of `docs/errors.md`. */
  when: string;
  codes: Readonly<Record<string, CodeNotes>>;
}

const NOTHING = 'Nothing.';
const SHOW = 'Show it at the field that `extensions.violations` names; it has the limit and the actual value too.';
const GONE = 'Take it off the page, or read the list anew.';
const ASK_LESS = 'Ask for less at once: `limit` and `actual` tell how far it is over.';

const table = [
  {
    title: 'Input',
    when: 'an argument that cannot be: a malformed id, a broken ISBN, `first: 0`, a cursor of another list; costs no call',
    codes: {
      BAD_USER_INPUT: {
        what: 'An argument or variable cannot be what it is: a malformed id, a broken ISBN, `first: 0`, a cursor of another list. No call was made.',
        client: 'Correct it; the message says what it must be. Asking again is of no use.',
        operator: NOTHING,
      },
    },
  },
  {
    title: 'Who asks',
    when: "no token of one's own · a token unknown, expired or not a bearer · known, and not allowed",
    codes: {
      LOGIN_REQUIRED: {
        what: 'This needs a person, and the request has no token: notes and every write.',
        client: 'Log in and send `Authorization: Bearer <token>`.',
        operator: 'Nothing: `ACCESS_TOKEN` never speaks for a person.',
      },
      UNAUTHENTICATED: {
        what: 'The service does not know the token, or knows it no longer; or the Authorization is not `Bearer <token>`, and went nowhere.',
        client: 'Get a new token and ask again.',
        operator: 'Where requests without a token get it, `ACCESS_TOKEN` has expired or been revoked.',
      },
      FORBIDDEN: {
        what: 'The service knows who asks, and does not allow it.',
        client: 'Do not offer it to this person. Asking again is of no use.',
        operator: 'Where everybody gets it, the application lacks a scope: `upstream.request` says which call.',
      },
    },
  },
  {
    title: 'Film tiers',
    when: "a film field that the caller's tier does not get; `tiers` names those that do",
    codes: {
      TIER_REQUIRED: {
        what: "The field is for other film tiers than the caller's; `tiers` names those that get it. It is said once for a field, not for each item.",
        client: 'Leave the field out, or use a token of such a tier.',
        operator: 'For callers without a token: `FILM_TIER` and the tier of `ACCESS_TOKEN` decide.',
      },
    },
  },
  {
    title: 'Rate',
    when: 'the rate of the service is reached; `retryAfter` in seconds',
    codes: {
      RATE_LIMITED: {
        what: 'The rate limit of the service is reached for this token, or for this address. The rest of the answer stands.',
        client: 'Ask again after `retryAfter` seconds; not sooner, and for the missing part alone.',
        operator:
          'See `catalog_budget_refusals_total`. With several replicas set `REDIS_URL`, so that they count together. A higher film tier has no such limit.',
      },
    },
  },
  {
    title: 'Collections',
    when: 'rules of collections',
    codes: {
      COLLECTION_EXISTS: {
        what: 'The book is on the shelf already.',
        client: 'Say `onConflict: UPDATE`, or use `updateCollection`; both replace the whole entry.',
        operator: NOTHING,
      },
      COLLECTION_NOT_FOUND: {
        what: 'The book is not on the shelf. A token without the scope to write books is refused the same way: the service has one code for both.',
        client: GONE,
        operator: 'Where everybody gets it, the tokens lack the scope `book_basic_w`.',
      },
      COMMENT_TOO_LONG: {
        what: 'A comment has more than 350 characters. Characters are Unicode code points; `actual` counts 10,000 of them at most.',
        client: SHOW,
        operator: NOTHING,
      },
      RATING_OUT_OF_RANGE: { what: 'A rating is not from 1 to 5.', client: SHOW, operator: NOTHING },
      INVALID_TAG: {
        what: 'A tag has a space in it, or is empty: the service parts tags by spaces.',
        client: SHOW,
        operator: NOTHING,
      },
      TOO_MANY_TAGS: { what: 'A collection has more than 100 tags.', client: SHOW, operator: NOTHING },
    },
  },
  {
    title: 'Annotations and reviews',
    when: 'rules of annotations and reviews',
    codes: {
      ANNOTATION_TOO_SHORT: {
        what: 'The text of an annotation has 15 characters (code points) or fewer.',
        client: SHOW,
        operator: NOTHING,
      },
      INVALID_PAGE_NUMBER: {
        what: 'A page is not a positive number of at most six digits.',
        client: SHOW,
        operator: NOTHING,
      },
      CHAPTER_TOO_LONG: {
        what: 'The name of a chapter has more than 100 characters (code points).',
        client: SHOW,
        operator: NOTHING,
      },
      PAGE_OR_CHAPTER: { what: 'Both a page and a chapter are given.', client: 'Give one of them.', operator: NOTHING },
      REVIEW_TOO_SHORT: {
        what: 'The text of a review has 150 characters (code points) or fewer.',
        client: SHOW,
        operator: NOTHING,
      },
    },
  },
  {
    title: 'Texts and ownership',
    when: "a text that is empty, or cannot be stored · somebody else's",
    codes: {
      MISSING_ARGUMENT: {
        what: 'Something that is needed is not given, or is empty.',
        client: SHOW,
        operator: NOTHING,
      },
      INVALID_TEXT: {
        what: 'A text is not Unicode: its bytes are not UTF-8, or it has half of a surrogate pair. Or the text of an event has a character that XML does not allow, such as most control characters.',
        client: 'Take it out of the text; send UTF-8.',
        operator: NOTHING,
      },
      NOT_OWNER: {
        what: "What was to be changed is somebody else's.",
        client: 'Offer it to its author alone.',
        operator: NOTHING,
      },
    },
  },
  {
    title: 'Not there',
    when: 'a write on what is not there',
    codes: {
      BOOK_NOT_FOUND: { what: 'There is no such book.', client: GONE, operator: NOTHING },
      REVIEW_NOT_FOUND: { what: 'There is no such review.', client: GONE, operator: NOTHING },
      ANNOTATION_NOT_FOUND: {
        what: 'There is no such annotation, or it is private to somebody else. A token without the scope to write books is refused the same way.',
        client: GONE,
        operator: 'Where everybody gets it, the tokens lack the scope `book_basic_w`.',
      },
      NOTE_NOT_FOUND: { what: 'There is no such note or comment.', client: GONE, operator: NOTHING },
      EVENT_NOT_FOUND: { what: 'There is no such event.', client: GONE, operator: NOTHING },
      PERSON_NOT_FOUND: { what: 'There is no such person.', client: GONE, operator: NOTHING },
      SUBJECT_NOT_FOUND: { what: 'There is no such film or person of film.', client: GONE, operator: NOTHING },
    },
  },
  {
    title: 'Events',
    when: "events are made in one's own city · end after they start · and are left alone when over",
    codes: {
      NO_CITY: {
        what: 'Events are made in the city of their creator, and this person has none.',
        client: 'Ask them to choose a city first.',
        operator: NOTHING,
      },
      EVENT_TIMES: { what: 'The event ends before it begins.', client: SHOW, operator: NOTHING },
      EVENT_EXPIRED: {
        what: "The event is over, and is not changed any more; or it is somebody else's.",
        client: 'Offer it for events to come, and to their creator alone.',
        operator: NOTHING,
      },
    },
  },
  {
    title: 'Pictures',
    when: 'pictures',
    codes: {
      PICTURE_TOO_LARGE: { what: 'A picture has 3 MB or more.', client: 'Scale it down.', operator: NOTHING },
      PICTURE_TYPE: {
        what: 'A picture is not a JPEG, PNG, GIF or WebP by its first bytes, whatever its name says.',
        client: 'Convert it.',
        operator: NOTHING,
      },
      PICTURE_NUMBER_USED: {
        what: 'Two pictures have the same number, or one has a number that is in use.',
        client: 'Number them anew.',
        operator: NOTHING,
      },
      INVALID_PICTURE_NUMBER: {
        what: 'The number of a picture is not a positive number of at most six digits.',
        client: SHOW,
        operator: NOTHING,
      },
      TOO_MANY_PICTURES: {
        what: 'A mutation has more pictures than it may.',
        client: 'Send the rest with `addNotePictures`.',
        operator: 'The limit is `MAX_PICTURES`.',
      },
      PICTURE_NOT_SENT: {
        what: 'Another picture of the same request was refused, and this one went down with it. It stands in the payload, not among the errors.',
        client: 'Send it again without the other.',
        operator: NOTHING,
      },
      BAD_UPLOAD: {
        what: 'The request is no GraphQL multipart request, or a file of it is missing, mapped twice, out of order or cut off.',
        client: 'Send `operations`, `map` and then the files, in the order of the map.',
        operator:
          'Where large ones break off, a proxy in front may cut bodies: compare its limit with `MAX_UPLOAD_BYTES`.',
      },
      UPLOAD_TOO_LARGE: {
        what: 'The files of a request, or its map, are too large. HTTP 413.',
        client: 'Send fewer or smaller files at once.',
        operator: 'The limit is `MAX_UPLOAD_BYTES`.',
      },
    },
  },
  {
    title: 'The service',
    when: 'the service is slow, away, or answers with what cannot be read; the rest of the answer stands',
    codes: {
      UPSTREAM_TIMEOUT: {
        what: 'The service did not answer in time. The rest of the answer stands.',
        client: 'Ask again for the missing part, later and later each time.',
        operator:
          'See `catalog_upstream_seconds`. The limits are `CONNECT_TIMEOUT_MS`, `HEADERS_TIMEOUT_MS`, `BODY_TIMEOUT_MS`, `CALL_TIMEOUT_MS` and `OPERATION_TIMEOUT_MS`.',
      },
      UPSTREAM_UNAVAILABLE: {
        what: 'The service cannot be reached, or says that it is out of order. The rest of the answer stands.',
        client: 'Ask again for the missing part, later and later each time.',
        operator:
          '`/ready` says which service is down, and the log when it went away. After `BREAKER_FAILURES` in a row it is left alone for `BREAKER_PAUSE_MS` and longer.',
      },
      UPSTREAM_INVALID_RESPONSE: {
        what: 'The service sent something other than what was requested: neither JSON nor Atom, another record, a record without its id, a list without its items, a body too large or too deep, a redirect. It is not cached; the rest of the answer is not affected.',
        client: 'Asking again is seldom of use.',
        operator:
          'Where every call gets it, `BASE_URL` or `EVENT_BASE_URL` is the address of something else. The limits are `MAX_JSON_BYTES` and `MAX_ATOM_BYTES`.',
      },
    },
  },
  {
    title: 'A write without an answer',
    when: 'the answer to a write was lost: it may have been carried out',
    codes: {
      UPSTREAM_RESULT_UNKNOWN: {
        what: 'The write was sent, and its answer was lost or a status 5xx: it may have been carried out, or not. It was not sent again. A 503 with an error of the service itself is reported as `UPSTREAM_UNAVAILABLE` instead: it was not carried out.',
        client: 'Read what it was about before writing again.',
        operator: 'The connection to the service, or a gateway before it, loses answers.',
      },
    },
  },
  {
    title: 'Other refusals',
    when: 'any other refusal; its number is in `upstream.code`',
    codes: {
      UPSTREAM_REFUSED: {
        what: 'The service refused for a reason that has no name here: its number is in `upstream.code`, its text in `upstream.message`.',
        client: 'Show that it did not work. Asking again is of no use.',
        operator: 'Look the number up in the interface of the service.',
      },
    },
  },
  {
    title: 'Documents',
    when: 'a document that cannot be run',
    codes: {
      GRAPHQL_PARSE_FAILED: {
        what: 'The document is not GraphQL; `locations` says where.',
        client: 'Correct it.',
        operator: NOTHING,
      },
      GRAPHQL_VALIDATION_FAILED: {
        what: 'The document does not fit the schema: a field, argument or type that is not there, or a variable of another type.',
        client: 'Check it against `schema.graphql`, best when the front end is built.',
        operator: '`SUGGESTIONS` and `INTROSPECTION` decide what a client is told of the schema.',
      },
      OPERATION_RESOLUTION_FAILURE: {
        what: 'The document has several operations and none was chosen, or none of the chosen name.',
        client: 'Send `operationName`.',
        operator: NOTHING,
      },
    },
  },
  {
    title: 'Persisted documents',
    when: 'no document of that name is kept: send its text too · none are kept here · the text has another hash · HTTP 403: only documents of the manifest are run here',
    codes: {
      PERSISTED_QUERY_NOT_FOUND: {
        what: 'No document of that name is kept.',
        client: 'Send it once with its text; the usual clients do so by themselves.',
        operator:
          'For documents of the manifest: `PERSISTED_OPERATIONS` names an older one than the client was built with.',
      },
      PERSISTED_QUERY_NOT_SUPPORTED: {
        what: 'Documents are not kept by their hashes here.',
        client: 'Send the text of each document.',
        operator: 'The setting is `AUTOMATIC_PERSISTED_QUERIES`.',
      },
      PERSISTED_QUERY_HASH_MISMATCH: {
        what: 'The hash is not the SHA-256 of the text that came with it. HTTP 400.',
        client: 'Compute it from the text as it is sent, in lower case.',
        operator: NOTHING,
      },
      PERSISTED_ONLY: {
        what: 'Only documents of the manifest are run here. HTTP 403.',
        client: 'Add the document to the manifest, and ask for it by its hash.',
        operator: '`PERSISTED_ONLY` switches it on, `PERSISTED_OPERATIONS` names the manifest.',
      },
    },
  },
  {
    title: 'Limits of an operation',
    when: 'more than an operation may; `limit` and `actual` say how much, and for calls, items and values `field` names the most expensive one',
    codes: {
      TOO_MANY_CALLS: {
        what: 'The operation may cost more calls of the service than it may make; `field` and `coordinate` name what costs most. Nothing was called, unless the count was reached on the way.',
        client:
          'Ask for smaller pages (`first`), or for the dearest field in a request of its own. `x-explain: plan` tells what each field costs.',
        operator: 'The limit is `MAX_UPSTREAM_CALLS`.',
      },
      TOO_MANY_ITEMS: {
        what: 'The answer may have more items of lists than it may show: pages inside pages are multiplied; `field` and `coordinate` name the largest list. Nothing was called.',
        client: 'Ask for smaller pages (`first`), or for the lists inside lists in requests of their own.',
        operator: 'The limit is `MAX_ITEMS`.',
      },
      TOO_MANY_VALUES: {
        what: 'The answer may have too many values, the fields of all items together; `field` and `coordinate` name where most of them are. Introspection counts too. Nothing was called, unless lists turned out longer than estimated.',
        client: 'Ask for smaller pages (`first`), or for fewer fields of each item.',
        operator: 'The limit is `MAX_VALUES`.',
      },
      ANSWER_TOO_LARGE: {
        what: 'The answer is too large: long texts, or many of them. It was not sent. A mutation has still been carried out.',
        client: 'Ask for smaller pages (`first`), or for long texts in requests of their own.',
        operator: 'The limit is `MAX_ANSWER_BYTES`.',
      },
      TOO_DEEP: {
        what: 'Fields lie too deep in one another.',
        client: ASK_LESS,
        operator: 'The limit is `MAX_DEPTH`.',
      },
      TOO_MANY_FIELDS: {
        what: 'The document has too many fields, fragments counted where they are spread; or the operation has, counted for every type that they may be of.',
        client: ASK_LESS,
        operator: 'The limits are `MAX_FIELDS` and `MAX_PLANNED_FIELDS`.',
      },
      TOO_MANY_ROOT_FIELDS: {
        what: 'The operation has too many fields at its root.',
        client: 'Use `nodes(ids:)` for many records, or several requests.',
        operator: 'The limit is `MAX_ROOT_FIELDS`.',
      },
      TOO_MANY_MUTATIONS: {
        what: 'The operation has too many mutations.',
        client: 'Send several requests.',
        operator: 'The limit is `MAX_MUTATIONS`.',
      },
      TOO_MANY_ALIASES: {
        what: 'The document has too many aliases.',
        client: ASK_LESS,
        operator: 'The limit is `MAX_ALIASES`.',
      },
      TOO_MANY_FRAGMENTS: {
        what: 'The document has too many fragments.',
        client: ASK_LESS,
        operator: 'The limit is `MAX_FRAGMENTS`.',
      },
      TOO_MANY_DIRECTIVES: {
        what: 'The document has too many directives.',
        client: ASK_LESS,
        operator: 'The limit is `MAX_DIRECTIVES`.',
      },
      TOO_MANY_TOKENS: {
        what: 'The document has too many tokens.',
        client: 'Shorten it, and give values in variables.',
        operator: 'The limit is `MAX_TOKENS`.',
      },
      DOCUMENT_TOO_LONG: {
        what: 'The document has too many characters.',
        client: 'Shorten it, and give values in variables.',
        operator: 'The limit is `MAX_DOCUMENT_CHARACTERS`.',
      },
    },
  },
  {
    title: 'Explaining',
    when: 'asked with `x-explain: plan` · with an `x-explain` that is neither `plan` nor `trace`',
    codes: {
      PLANNED_NOT_RUN: {
        what: 'The request has `x-explain: plan`: nothing was run. `extensions.upstream` says how many calls it would cost, `extensions.answer` how much the answer may hold.',
        client: 'Leave the header out to run it.',
        operator: '`EXPLAIN` switches the header on and off.',
      },
      BAD_EXPLAIN: {
        what: 'The header `x-explain` is neither `plan` nor `trace`. HTTP 400.',
        client: 'Send one of the two, or leave it out.',
        operator: '`EXPLAIN` switches the header on and off; where it is off, it is not looked at.',
      },
    },
  },
  {
    title: 'Requests',
    when: 'HTTP 4xx: a request that is no question; the message says what it must be',
    codes: {
      BAD_REQUEST: {
        what: 'The request cannot be read: its body is no JSON, has no `query`, or has members of the wrong kind. HTTP 400; 405 for a mutation by GET.',
        client: 'Send a JSON object with `query`, and `variables` where there are any. Mutations go by POST.',
        operator: NOTHING,
      },
      NOT_ACCEPTABLE: {
        what: '`Accept` has no form that the answer can have; nothing was run. HTTP 406.',
        client: 'Accept `application/json`; for `@defer` and `@stream` also `multipart/mixed` or `text/event-stream`.',
        operator: NOTHING,
      },
      BATCHING_OFF: {
        what: 'The body is a list of operations. HTTP 400.',
        client: 'Send one operation a request, or several fields in one operation.',
        operator: NOTHING,
      },
      METHOD_NOT_ALLOWED: {
        what: 'The method is not one of those that `Allow` names. HTTP 405.',
        client: 'Use GET or POST.',
        operator: NOTHING,
      },
      CSRF_HEADER_REQUIRED: {
        what: 'A form or a bare document came without a header that pages of other sites cannot send. HTTP 415.',
        client: 'Send `application/json`, or add `x-graphql-csrf: 1`.',
        operator: NOTHING,
      },
      UNSUPPORTED_MEDIA_TYPE: {
        what: 'The body is of a kind that is not read here. HTTP 415.',
        client: 'Send `application/json`.',
        operator: NOTHING,
      },
      UNSUPPORTED_ENCODING: {
        what: 'The body is compressed. HTTP 415.',
        client: 'Send it without `Content-Encoding`.',
        operator: NOTHING,
      },
      BODY_TOO_LARGE: {
        what: 'The body is too large. HTTP 413.',
        client: 'Send less; pictures go by a multipart request.',
        operator: 'The limit is `MAX_BODY_BYTES`.',
      },
      HEADERS_TOO_LARGE: {
        what: 'The headers are too large, or more than 500. HTTP 431.',
        client: 'Send fewer: cookies of other applications are the usual cause.',
        operator: 'The limit of their size is `MAX_HEADER_BYTES`.',
      },
      REQUEST_TIMEOUT: {
        what: 'The headers, the body or the files came too slowly. HTTP 408.',
        client: 'Try again over a better connection.',
        operator: 'The limits are `REQUEST_HEADERS_TIMEOUT_MS` and `REQUEST_BODY_TIMEOUT_MS`.',
      },
      NOT_FOUND: {
        what: 'There is nothing at this path. HTTP 404.',
        client: 'The graph is at `/graphql`.',
        operator: 'A proxy in front that changes paths is the usual cause.',
      },
      CLIENT_LEFT: {
        what: 'The client went away before its operation began. Nobody is left to read it; its status, 499, is in the metrics.',
        client: NOTHING,
        operator: 'Many of them mean that clients wait less long than their operations do.',
      },
    },
  },
  {
    title: 'Load',
    when: 'HTTP 503 with `Retry-After`: too many operations wait',
    codes: {
      OVERLOADED: {
        what: 'More is asked than can be done. HTTP 503; nothing was run.',
        client: 'Ask again after `Retry-After` seconds, writes too.',
        operator:
          'Add replicas. The limits are `MAX_RUNNING_OPERATIONS`, `MAX_WAITING_OPERATIONS` and `MAX_CLIENT_CONNECTIONS`.',
      },
    },
  },
  {
    title: 'Ours',
    when: 'a fault of ours, logged under the `requestId` it comes with',
    codes: {
      INTERNAL_SERVER_ERROR: {
        what: 'A fault of ours; its cause is in the log under `requestId`, and not told.',
        client: 'Report it with its `requestId`. The rest of the answer stands.',
        operator: 'Look the `requestId` up in the log, and report what it says.',
      },
    },
  },
] as const satisfies readonly CodeGroup[];

type KeysOf<T> = T extends unknown ? keyof T : never;
/** A code that an error may carry. */
export type ClientCode = KeysOf<(typeof table)[number]['codes']>;

export const codeGroups: readonly CodeGroup[] = table;

const notes = new Map(codeGroups.flatMap(({ codes }) => Object.entries(codes)));

/** Undefined for a code that is none of ours. */
export const notesOn = (code: string): CodeNotes | undefined => notes.get(code);
