/**
 * The requirements of GraphQL over HTTP (the text of 2026-11-13, September2026) that a server can meet or miss, each with a request and
 * what has to come back. No request of the table reaches the upstream.
 */

/** The beginning of a body, whose rest does not come. */
export const unfinished = Symbol('unfinished');

/** How a request is sent; `facade` names one with settings of its own. */
export interface Sent {
  method: string;
  /** Behind /graphql. */
  search?: string;
  headers: Record<string, string>;
  /** A body that never ends is `unfinished`. */
  body?: string | Uint8Array<ArrayBuffer> | typeof unfinished;
  facade?: 'strict';
}

/** What a client sees. */
export interface Seen {
  status: number;
  type: string | null;
  allow: string | null;
  /** The body as JSON. */
  body: Record<string, unknown>;
  code: unknown;
}

export type Level = 'MUST' | 'MUST NOT' | 'SHOULD' | 'SHOULD NOT' | 'MAY';

/** Section, keyword, what it says, a request, and what is expected. */
export type Requirement = readonly [
  section: string,
  level: Level,
  says: string,
  request: Sent,
  expected: Partial<Seen>,
];

export const GRAPHQL = 'application/graphql-response+json';
export const JSON_TYPE = 'application/json';
const GRAPHQL_UTF8 = `${GRAPHQL}; charset=utf-8`;
const JSON_UTF8 = `${JSON_TYPE}; charset=utf-8`;

type Headers = Record<string, string>;

const asGraphql = { accept: GRAPHQL };
const raw = (body: Sent['body'] & {}, headers: Headers = {}): Sent => ({
  method: 'POST',
  headers: { 'content-type': JSON_TYPE, ...asGraphql, ...headers },
  body,
});
const post = (params: unknown, headers: Headers = {}): Sent => raw(JSON.stringify(params), headers);
const get = (params: Headers, headers: Headers = {}): Sent => ({
  method: 'GET',
  search: `?${new URLSearchParams(params)}`,
  headers: { ...asGraphql, ...headers },
});
const by = (method: string, params: unknown): Sent => ({ ...post(params), method });
const without = (name: string, sent: Sent): Sent => {
  const { [name]: _, ...headers } = sent.headers;
  return { ...sent, headers };
};
const strict = (sent: Sent): Sent => ({ ...sent, facade: 'strict' });

const query = '{ __typename }';
const run = { status: 200, type: GRAPHQL_UTF8, body: { data: { __typename: 'Query' } } };
const asked = 'query Q($name: String!) { __type(name: $name) { name } }';
const variables = { name: 'Book' };
const found = { status: 200, type: GRAPHQL_UTF8, body: { data: { __type: { name: 'Book' } } } };
const two = 'query A { a: __typename } query B { b: __typename }';
const first = { status: 200, body: { data: { a: 'Query' } } };
const second = { status: 200, body: { data: { b: 'Query' } } };
const mutation = 'mutation M { likeNote(input: { id: "1" }) { note { id } } }';
/** A field with an error, for which nothing is called. */
const partial = '{ __typename book(id: "no id") { title } }';

const malformed = { status: 422, type: GRAPHQL_UTF8, code: 'BAD_REQUEST' };
const unparsed = { status: 400, type: GRAPHQL_UTF8, code: 'GRAPHQL_PARSE_FAILED' };
const invalid = { status: 422, type: GRAPHQL_UTF8, code: 'GRAPHQL_VALIDATION_FAILED' };
const unresolved = { status: 422, type: GRAPHQL_UTF8, code: 'OPERATION_RESOLUTION_FAILURE' };
const uncoerced = { status: 422, type: GRAPHQL_UTF8, code: 'BAD_USER_INPUT' };
const noMutation = { status: 405, allow: 'POST', code: 'BAD_REQUEST' };

const not = (type: string, values: readonly unknown[]): [string, unknown][] =>
  values.map((value) => [`${type} that is ${JSON.stringify(value)}`, value]);

const requests: Requirement[] = [
  ['URL', 'MUST', 'a server enables GraphQL requests to a schema', post({ query }), run],
  [
    'URL',
    'MUST',
    'the schema is served at a URL',
    post({ query: '{ __schema { queryType { name } } }' }),
    { status: 200, body: { data: { __schema: { queryType: { name: 'Query' } } } } },
  ],
  [
    'URL',
    'SHOULD',
    'a request that is forbidden gets the relevant 4xx',
    strict(post({ query })),
    { status: 403, code: 'PERSISTED_ONLY' },
  ],
  [
    'URL',
    'SHOULD NOT',
    'a request is not forbidden for its well-formed contents: a field that needs a user is an error of the field',
    post({ query: '{ __typename viewer { isLoggedIn } note(id: "1") { id } }' }),
    { status: 294, code: 'LOGIN_REQUIRED' },
  ],
  ['Serialization Format', 'MUST', 'a server supports JSON', post({ query: asked, variables }), found],
  [
    'Media Types',
    'MUST',
    'utf-8 is assumed for a Content-Type without a charset',
    post({ query: 'query ($first: Int!) { top250(first: $first) { totalCount } }', variables: { first: '小王子' } }),
    uncoerced,
  ],
  [
    'Media Types',
    'MUST',
    'utf-8 is assumed for an Accept without a charset',
    post({ query: 'query 小' }),
    { ...unparsed, type: GRAPHQL_UTF8 },
  ],
  [
    'Media Types',
    'MUST',
    'the charset utf-8 may be named in both',
    post({ query }, { 'content-type': JSON_UTF8, accept: GRAPHQL_UTF8 }),
    run,
  ],
  ['Request', 'MUST', 'a server supports requests by POST', post({ query }), run],
  ['Request', 'MAY', 'a server supports requests by GET', get({ query }), run],
  ['Request', 'MAY', 'a server supports requests by QUERY (RFC 10008)', by('QUERY', { query }), run],

  ['GraphQL-over-HTTP Request', 'SHOULD', '{query} is required', post({ variables: {} }), malformed],
  ...not('{query}', [{ obj: 'ect' }, 0, false, ['array'], null]).map(([says, value]): Requirement => [
    'GraphQL-over-HTTP Request',
    'SHOULD',
    `${says} is no request`,
    post({ query: value }),
    malformed,
  ]),
  ['GraphQL-over-HTTP Request', 'MUST', '{operationName} is optional', post({ query }), run],
  [
    'GraphQL-over-HTTP Request',
    'MUST',
    '{operationName} is the operation to execute',
    post({ query: two, operationName: 'B' }),
    second,
  ],
  ...not('{operationName}', [{ obj: 'ect' }, 1, true, ['array']]).map(([says, value]): Requirement => [
    'GraphQL-over-HTTP Request',
    'SHOULD',
    `${says} is no request`,
    post({ query, operationName: value }),
    malformed,
  ]),
  ['GraphQL-over-HTTP Request', 'MUST', '{variables} is a map', post({ query: asked, variables }), found],
  ...not('{variables}', ['string', 0, false, ['array'], [7]]).map(([says, value]): Requirement => [
    'GraphQL-over-HTTP Request',
    'SHOULD',
    `${says} is no request`,
    post({ query, variables: value }),
    malformed,
  ]),
  ['GraphQL-over-HTTP Request', 'MUST', '{extensions} is a map', post({ query, extensions: { any: [1] } }), run],
  ...not('{extensions}', ['string', 0, false, ['array']]).map(([says, value]): Requirement => [
    'GraphQL-over-HTTP Request',
    'SHOULD',
    `${says} is no request`,
    post({ query, extensions: value }),
    malformed,
  ]),
  [
    'GraphQL-over-HTTP Request',
    'MUST',
    'a {query} that does not parse is well-formed: the response is of GraphQL',
    post({ query: 'no document' }),
    unparsed,
  ],
  [
    'GraphQL-over-HTTP Request',
    'MUST',
    'a {query} that does not validate is well-formed: the response is of GraphQL',
    post({ query: '{ nothing }' }),
    invalid,
  ],

  ['Accept', 'MUST', 'a client may accept the media type of GraphQL alone', post({ query }), run],
  [
    'Accept',
    'SHOULD',
    'a client may accept the header that is recommended',
    post({ query }, { accept: `${GRAPHQL}, ${JSON_TYPE};q=0.9` }),
    run,
  ],
  [
    'Accept',
    'MAY',
    'a request without Accept is answered',
    without('accept', post({ query })),
    { status: 200, type: JSON_UTF8 },
  ],

  ['GET', 'MUST', 'the parameters are in the query of the URL', get({ query }), run],
  [
    'GET',
    'MUST',
    'the parameters are encoded as a form: a plus is a space',
    { ...get({}), search: '?query=query+Q+%7B+__typename+%7D&operationName=Q' },
    run,
  ],
  ['GET', 'MUST', '{query} is the text of the document', get({ query: '# a comment\n{ __typename }' }), run],
  ['GET', 'MUST', '{operationName} is a name', get({ query: two, operationName: 'B' }), second],
  ['GET', 'MUST', '{variables} is JSON', get({ query: asked, variables: JSON.stringify(variables) }), found],
  ['GET', 'MUST', '{extensions} is JSON', get({ query, extensions: '{"any":1}' }), run],
  ['GET', 'SHOULD', '{variables} that is no JSON is no request', get({ query, variables: '{name:1}' }), malformed],
  ['GET', 'SHOULD', '{extensions} that is no JSON is no request', get({ query, extensions: 'x' }), malformed],
  ['GET', 'SHOULD', '{variables} that is no map is no request', get({ query, variables: '[7]' }), malformed],
  ['GET', 'SHOULD', '{query} is required', get({ operationName: 'Q' }), malformed],
  ['GET', 'SHOULD', 'an empty {query} is none', get({ query: '' }), malformed],
  ['GET', 'MUST', 'an empty {operationName} is none', get({ query, operationName: '' }), run],
  ['GET', 'MUST', 'an empty {variables} is none', get({ query, variables: '' }), run],
  ['GET', 'MUST', 'an empty {extensions} is none', get({ query, extensions: '' }), run],
  [
    'GET',
    'MUST',
    '{operationName} null is the name "null"',
    get({ query: 'query null { __typename } query other { __typename }', operationName: 'null' }),
    run,
  ],
  ['GET', 'MUST NOT', 'a mutation is executed', get({ query: mutation }), noMutation],
  [
    'GET',
    'MUST NOT',
    'a mutation is executed that {operationName} names',
    get({ query: `${mutation} query Q { __typename }`, operationName: 'M' }),
    noMutation,
  ],
  [
    'GET',
    'MAY',
    'a query is executed beside a mutation',
    get({ query: `${mutation} query Q { __typename }`, operationName: 'Q' }),
    run,
  ],
  ['GET', 'MUST', 'unknown parameters are ignored', get({ query, other: '1' }), run],

  [
    'POST',
    'MUST',
    'the body has the parameters',
    post({ query: asked, operationName: 'Q', variables, extensions: {} }),
    found,
  ],
  ['POST', 'SHOULD', 'a POST without a body is rejected', raw(''), { status: 400, code: 'BAD_REQUEST' }],
  ['POST', 'MUST', 'a body in application/json is supported', post({ query }), run],
  ['POST', 'MUST', 'a charset utf-8 is supported', post({ query }, { 'content-type': JSON_UTF8 }), run],
  [
    'POST',
    'MUST',
    'utf-8 is assumed: other bytes are no JSON',
    raw(new Uint8Array([...Buffer.from('{"query":"{__typename}#'), 0xe9, ...Buffer.from('"}')])),
    { status: 400, code: 'INVALID_TEXT' },
  ],
  [
    'POST',
    'SHOULD',
    'a POST without Content-Type is rejected',
    without('content-type', post({ query })),
    { status: 415 },
  ],
  [
    'POST',
    'MAY',
    'a body in other types is supported',
    raw(new URLSearchParams({ query }).toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      'x-graphql-csrf': '1',
    }),
    run,
  ],

  ['JSON Encoding', 'MUST', '{query} is a text', post({ query: `# 小\n${query}` }), run],
  ['JSON Encoding', 'MUST', '{operationName} is a text', post({ query: two, operationName: 'A' }), first],
  ['JSON Encoding', 'MUST', '{variables} is an object', post({ query: asked, variables }), found],
  ['JSON Encoding', 'MUST', '{extensions} is an object', post({ query, extensions: { a: { b: 1 } } }), run],
  ['JSON Encoding', 'MUST', 'properties that are not understood are ignored', post({ query, foo: 1, id: 'x' }), run],
  [
    'JSON Encoding',
    'MUST',
    'properties with nested values that are not understood are ignored',
    post({ query: asked, variables, batch: [{ query }], __proto__: null, Query: '{' }),
    found,
  ],
  ['JSON Encoding', 'MUST', 'an {operationName} null is none', post({ query, operationName: null }), run],
  ['JSON Encoding', 'MUST', '{variables} null are none', post({ query, variables: null }), run],
  ['JSON Encoding', 'MUST', '{extensions} null are none', post({ query, extensions: null }), run],
  ['JSON Encoding', 'SHOULD', 'a list is no request', post([{ query }]), { ...malformed, code: 'BATCHING_OFF' }],
  ...[`"${query}"`, '7', 'null', 'true'].map((body): Requirement => [
    'JSON Encoding',
    'SHOULD',
    `${body} is no request`,
    raw(body),
    malformed,
  ]),
];

const responses: Requirement[] = [
  ['Response', 'MUST', 'a request that is executed has a result', post({ query }), run],
  [
    'Response',
    'MUST',
    'a request that is not executed has errors and no data',
    post({ query: '{ nothing }' }),
    invalid,
  ],
  [
    'Response',
    'MUST',
    'RFC 9110 requires GET and HEAD: HEAD has the status of GET',
    { ...get({ query }), method: 'HEAD' },
    { status: 200, type: GRAPHQL_UTF8 },
  ],

  ['Body', 'MUST', 'a result is encoded directly in the media type', post({ query }), run],
  [
    'Body',
    'MUST',
    'a result with errors has data and errors',
    post({ query: partial }),
    { status: 294, code: 'BAD_USER_INPUT' },
  ],
  ['Body', 'SHOULD', 'Content-Type has the encoding, of results', post({ query }), { type: GRAPHQL_UTF8 }],
  [
    'Body',
    'SHOULD',
    'Content-Type has the encoding, of partial results',
    post({ query: partial }),
    { type: GRAPHQL_UTF8 },
  ],
  ['Body', 'SHOULD', 'Content-Type has the encoding, of errors', post({ query: '{' }), { type: GRAPHQL_UTF8 }],
  ['Body', 'SHOULD', 'Content-Type has the encoding, of rejections', post({}), { type: GRAPHQL_UTF8 }],
  ['Body', 'MUST', 'the media type of GraphQL is supported', post({ query }), run],
  [
    'Body',
    'MUST',
    'Accept decides: the type of the highest quality',
    post({ query }, { accept: `${JSON_TYPE};q=0.5, ${GRAPHQL};q=0.8` }),
    { status: 200, type: GRAPHQL_UTF8 },
  ],
  [
    'Body',
    'MUST',
    'Accept decides: application/json if it is preferred',
    post({ query }, { accept: `${GRAPHQL};q=0.1, ${JSON_TYPE}` }),
    { status: 200, type: JSON_UTF8 },
  ],
  [
    'Body',
    'MUST',
    'Accept decides: a type that is named before a wildcard',
    post({ query }, { accept: `*/*;q=0.1, ${GRAPHQL}` }),
    { status: 200, type: GRAPHQL_UTF8 },
  ],
  [
    'Body',
    'MUST',
    'Accept decides: not a type of quality 0',
    post({ query }, { accept: `${GRAPHQL};q=0, ${JSON_TYPE}` }),
    { status: 200, type: JSON_UTF8 },
  ],
  [
    'Body',
    'MUST',
    'Accept decides, for errors too',
    post({ query: '{' }, { accept: `${GRAPHQL}, ${JSON_TYPE};q=0.9` }),
    unparsed,
  ],
  ['Body', 'MUST', 'a wildcard is acceptable', post({ query }, { accept: '*/*' }), { status: 200, type: JSON_UTF8 }],
  [
    'Body',
    'MUST',
    'without an acceptable type 406',
    post({ query }, { accept: 'text/csv' }),
    { status: 406, type: JSON_UTF8 },
  ],
  ['Body', 'MUST', 'without an acceptable type 406, by GET', get({ query }, { accept: 'image/png' }), { status: 406 }],
  ['Body', 'SHOULD', 'with all types of quality 0 406', post({ query }, { accept: '*/*;q=0' }), { status: 406 }],

  ...Object.entries({
    'operations have different names': 'query A { a: __typename } query A { b: __typename }',
    'an anonymous operation is alone': '{ __typename } query B { __typename }',
    'fields exist': '{ nothing }',
    'fields merge': '{ __type(name: "A") { name } __type(name: "B") { name } }',
    'leaves have no selection': '{ __typename { a } }',
    'objects have a selection': '{ __schema }',
    'arguments exist': '{ __type(name: "A", other: 1) { name } }',
    'arguments are unique': '{ __type(name: "A", name: "B") { name } }',
    'required arguments are given': '{ __type { name } }',
    'fragments have different names': '{ ...F } fragment F on Query { __typename } fragment F on Query { __typename }',
    'types of fragments exist': '{ ...F } fragment F on Nothing { __typename }',
    'fragments are on composite types': '{ ...F } fragment F on String { __typename }',
    'fragments are used': '{ __typename } fragment F on Query { __typename }',
    'spreads have a fragment': '{ ...Nothing }',
    'spreads form no cycle': '{ ...F } fragment F on Query { ...F }',
    'spreads are possible': '{ __schema { ... on Query { __typename } } }',
    'values have the right type': '{ __type(name: 7) { name } }',
    'input fields exist': 'mutation { likeNote(input: { id: "1", other: 1 }) { note { id } } }',
    'input fields are unique': 'mutation { likeNote(input: { id: "1", id: "2" }) { note { id } } }',
    'required input fields are given': 'mutation { likeNote(input: {}) { note { id } } }',
    'directives exist': '{ __typename @nothing }',
    'directives are at their locations': 'query @skip(if: true) { __typename }',
    'directives are unique': '{ __typename @skip(if: true) @skip(if: true) }',
    'variables have different names': 'query ($a: String!, $a: String!) { __type(name: $a) { name } }',
    'variables are inputs': 'query ($a: Book) { __typename }',
    'variables are defined': '{ __type(name: $a) { name } }',
    'variables are used': 'query ($a: String) { __typename }',
    'variables are allowed': 'query ($a: Int!) { __type(name: $a) { name } }',
  }).map(([rule, text]): Requirement => ['Validation', 'SHOULD', `${rule}`, post({ query: text }), invalid]),
  [
    'Validation',
    'MAY',
    'further rules: a limit is a rule',
    post({ query: `{ ${'__typename '.repeat(31)} }` }),
    { ...invalid, code: 'TOO_MANY_ROOT_FIELDS' },
  ],
  [
    'Execution',
    'MUST',
    'a request is executed as GraphQL says: default values',
    post({ query: 'query ($name: String! = "Book") { __type(name: $name) { name } }' }),
    found,
  ],
  [
    'Execution',
    'MUST',
    'a request is executed as GraphQL says: skipped fields',
    post({ query: 'query ($no: Boolean!) { __typename a: __typename @include(if: $no) }', variables: { no: false } }),
    run,
  ],
];

const statuses: Requirement[] = [
  ['Status Codes', 'MUST', 'data that is not null has a 2xx', post({ query: partial }), { status: 294 }],
  ['Status Codes', 'SHOULD', 'data without errors has 200', post({ query }), run],
  ['Status Codes', 'SHOULD', 'data without errors has 200, by GET', get({ query }), run],
  ['Status Codes', 'SHOULD', 'data and errors have 294', post({ query: partial }), { status: 294, type: GRAPHQL_UTF8 }],
  [
    'Status Codes',
    'SHOULD',
    'data and errors have 294, by GET',
    get({ query: partial }),
    { status: 294, type: GRAPHQL_UTF8 },
  ],
  ['Status Codes', 'SHOULD', 'data and errors have 294, by QUERY', by('QUERY', { query: partial }), { status: 294 }],
  [
    'Status Codes',
    'SHOULD',
    'data that is null and errors have 294',
    post({ query: partial, onError: 'HALT' }),
    { status: 294, code: 'BAD_USER_INPUT' },
  ],
  [
    'Status Codes',
    'SHOULD',
    'an error of a mutation has 294',
    post({ query: mutation }),
    { status: 294, code: 'LOGIN_REQUIRED' },
  ],
  ['Status Codes', 'MUST', 'no data has 4xx or 5xx', post({ query: '{ nothing }' }), invalid],
  ['Status Codes', 'SHOULD', 'a mutation by GET has 405', get({ query: mutation }), noMutation],
  ['Status Codes', 'SHOULD', 'a mutation by QUERY has 405', by('QUERY', { query: mutation }), noMutation],
  ...['PUT', 'PATCH', 'DELETE'].map((method): Requirement => [
    'Status Codes',
    'SHOULD',
    `${method} has 405`,
    by(method, { query }),
    { status: 405, allow: 'GET, HEAD, POST, QUERY, OPTIONS', code: 'METHOD_NOT_ALLOWED' },
  ]),
  ['Status Codes', 'SHOULD', 'text/plain has 415', raw(query, { 'content-type': 'text/plain' }), { status: 415 }],
  [
    'Status Codes',
    'SHOULD',
    'another Content-Type has 415',
    raw('<query/>', { 'content-type': 'application/xml', 'x-graphql-csrf': '1' }),
    { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  ],
  [
    'Status Codes',
    'SHOULD',
    'an Accept of other types has 406',
    post({ query }, { accept: 'text/xml' }),
    { status: 406 },
  ],
  ['Status Codes', 'SHOULD', 'a body that does not come has 408', strict(raw(unfinished)), { status: 408 }],
  [
    'Status Codes',
    'SHOULD',
    'a URI that is too large has 414',
    get({ query: `{ __typename } #${'x'.repeat(20_000)}` }),
    { status: 414 },
  ],
  [
    'Status Codes',
    'SHOULD',
    'headers that are too large have 431',
    post({ query }, { 'x-large': 'x'.repeat(20_000) }),
    { status: 431, code: 'HEADERS_TOO_LARGE' },
  ],
  [
    'Status Codes',
    'SHOULD',
    'a body that is too large has 413',
    strict(post({ query, more: 'x'.repeat(5_000) })),
    { status: 413 },
  ],
  [
    'Status Codes',
    'SHOULD',
    'a body that is no JSON has 400',
    raw('{'),
    { status: 400, type: GRAPHQL_UTF8, code: 'BAD_REQUEST' },
  ],
  ['Status Codes', 'SHOULD', 'no request of GraphQL has 422', post({ mutation: query }), malformed],
  ['Status Codes', 'SHOULD', 'a document that does not parse has 400', post({ query: '{ a' }), unparsed],
  ['Status Codes', 'SHOULD', 'a document that does not parse has 400, by GET', get({ query: '{ a' }), unparsed],
  ['Status Codes', 'SHOULD', 'a document that is invalid has 422', post({ query: '{ a }' }), invalid],
  ['Status Codes', 'SHOULD', 'a document that is invalid has 422, by GET', get({ query: '{ a }' }), invalid],
  ['Status Codes', 'SHOULD', 'an operation that is not determined has 422', post({ query: two }), unresolved],
  ['Status Codes', 'SHOULD', 'an operation that is not determined has 422, by GET', get({ query: two }), unresolved],
  ['Status Codes', 'SHOULD', 'variables that cannot be coerced have 422', post({ query: asked }), uncoerced],
  [
    'Status Codes',
    'SHOULD',
    'variables that cannot be coerced have 422, by GET',
    get({ query: asked, variables: '{"name":[]}' }),
    uncoerced,
  ],
  ['Status Codes', 'SHOULD', 'a request that is not permitted has 403', strict(post({ query })), { status: 403 }],
  ['Status Codes', 'MUST', '405 has Allow', by('PUT', {}), { allow: 'GET, HEAD, POST, QUERY, OPTIONS' }],
  ['Status Codes', 'MUST', '405 of a mutation has Allow', get({ query: mutation }), { allow: 'POST' }],
];

const examples: Requirement[] = [
  ['Examples', 'SHOULD', 'JSON parsing failure: NONSENSE', raw('NONSENSE'), { status: 400, code: 'BAD_REQUEST' }],
  ['Examples', 'SHOULD', 'JSON parsing failure: {"query":', raw('{"query":'), { status: 400, code: 'BAD_REQUEST' }],
  ['Examples', 'SHOULD', 'invalid parameters: a typing error', post({ qeury: query }), malformed],
  [
    'Examples',
    'SHOULD',
    'invalid parameters: a list of variables',
    post({ query: 'query Q ($i:Int!) { q(i: $i) }', variables: [7] }),
    malformed,
  ],
  ['Examples', 'SHOULD', 'document parsing failure', post({ query: '{' }), unparsed],
  ['Examples', 'SHOULD', 'document parsing failure: an empty document', post({ query: '' }), unparsed],
  ['Examples', 'SHOULD', 'document validation failure', post({ query: '{ a b c }' }), invalid],
  [
    'Examples',
    'SHOULD NOT',
    'document validation failure: nothing is executed',
    post({ query: 'mutation { likeNote(input: { id: "1" }) { nothing } }' }, { authorization: 'Bearer token' }),
    invalid,
  ],
  ['Examples', 'SHOULD', 'operation cannot be determined: two, no name', post({ query: two }), unresolved],
  [
    'Examples',
    'SHOULD',
    'operation cannot be determined: no such name',
    post({ query: two, operationName: 'C' }),
    unresolved,
  ],
  [
    'Examples',
    'SHOULD NOT',
    'operation cannot be determined: nothing is executed',
    post({ query: `${mutation} ${mutation.replace('M', 'N')}` }, { authorization: 'Bearer token' }),
    unresolved,
  ],
  ['Examples', 'SHOULD', 'variable coercion failure: absent', post({ query: asked, variables: {} }), uncoerced],
  [
    'Examples',
    'SHOULD',
    'variable coercion failure: null',
    post({ query: asked, variables: { name: null } }),
    uncoerced,
  ],
  [
    'Examples',
    'SHOULD',
    'variable coercion failure: wrong type',
    post({ query: asked, variables: { name: 7 } }),
    uncoerced,
  ],
  [
    'Examples',
    'SHOULD NOT',
    'variable coercion failure: nothing is executed',
    post(
      { query: 'mutation ($i: LikeNoteInput!) { likeNote(input: $i) { note { id } } }', variables: { i: { id: [] } } },
      { authorization: 'Bearer token' },
    ),
    uncoerced,
  ],
];

export const requirements: readonly Requirement[] = [...requests, ...responses, ...statuses, ...examples];

/** What the facade decides otherwise, and why. */
export const departures: readonly Requirement[] = [
  // The text would give 422 and 405 to clients of application/json too. They read 200 since 2016, and many stop at any other status.
  ...[
    ['an invalid document has 200', post({ query: '{ nothing }' }, { accept: JSON_TYPE }), 200],
    ['a document that does not parse has 200', post({ query: '{' }, { accept: JSON_TYPE }), 200],
    ['variables that cannot be coerced have 200', post({ query: asked }, { accept: JSON_TYPE }), 200],
    ['data and errors have 200', post({ query: partial }, { accept: JSON_TYPE }), 200],
    ['an operation that is not determined has 400', post({ query: two }, { accept: JSON_TYPE }), 400],
    ['no request of GraphQL has 400', post({}, { accept: JSON_TYPE }), 400],
    ['variables that are no map have 400', post({ query, variables: [7] }, { accept: JSON_TYPE }), 400],
    ['variables of a GET that are no JSON have 400', get({ query, variables: '{' }, { accept: JSON_TYPE }), 400],
    ['a request without Accept is of the older text', without('accept', post({ query: '{ nothing }' })), 200],
  ].map(([says, request, status]): Requirement => [
    'application/json',
    'SHOULD NOT',
    says as string,
    request as Sent,
    { status: status as number, type: JSON_UTF8 },
  ]),
  // A step of the protocol of Apollo, which is no request of this text: some clients stop at any other status and never send the text.
  [
    'persisted documents',
    'SHOULD NOT',
    'an unknown hash has 200',
    post({ extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
    { status: 200, code: 'PERSISTED_QUERY_NOT_FOUND' },
  ],
];

/** The same by the text before: 400 for what is not executed, 200 for what is, and rejections in application/json. */
export function asOf2025({ status, type: _, ...expected }: Partial<Seen>): Partial<Seen> {
  if (status === undefined) return expected;
  return { ...expected, status: status === 422 ? 400 : status === 294 ? 200 : status };
}
