// Defects that the oracle must find. A test checks that each can still be planted.
/** Each with its edits: file, text, replacement. */
export const defects = [
  {
    name: 'plan: a page with an offset is served from the embedded first page',
    edits: [
      ['src/engine/plan/needed-members.ts', 'given.after == null && !given.offset && ', 'given.after == null && '],
    ],
  },
  {
    name: 'plan: more items than the embedded page holds are served from it',
    edits: [['src/engine/plan/needed-members.ts', '(size < 1 || size > embedded.upTo)', 'size < 1']],
  },
  {
    name: 'plan: a selection under @skip is planned',
    edits: [
      [
        'src/engine/plan/document.ts',
        'return skip?.if !== true && include?.if !== false;',
        'return include?.if !== false;',
      ],
    ],
  },
  {
    name: 'plan: a fragment on an interface is treated as one on another type',
    edits: [
      [
        'src/engine/plan/document.ts',
        'return isAbstractType(named) && schema.isSubType(named, type);',
        'return false;',
      ],
    ],
  },
  {
    name: 'identity: a sibling of which the response lacks a member takes it from the record',
    edits: [['src/engine/execute/load-record.ts', 'if (members.every((member) => member in provided))', '']],
  },
  {
    name: 'identity: a path carries less than others',
    edits: [['src/graph/event/city.ts', 'name: nameIn(feed) ?? null', 'name: null']],
  },
  {
    name: 'identity: a person has a picture by some paths only',
    edits: [
      [
        'src/graph/types/user.ts',
        'return personTold({ ...atomUser(author), name, avatar, alt }, asked);',
        "return personTold({ ...atomUser(author), name, avatar: '', alt }, asked);",
      ],
    ],
  },
  {
    name: 'identity: an object is shown of which every call says that there is none',
    edits: [
      ['src/engine/execute/load-record.ts', 'then((isAbsent) => (isAbsent ? null : loaded))', 'then(() => loaded)'],
    ],
  },
  {
    name: 'identity: a call that was not made shows that a person exists',
    edits: [
      [
        'src/upstream/loading/record-state.ts',
        'error instanceof UpstreamFailure || error instanceof UpstreamRejection || undefined;',
        'error !== null || undefined;',
      ],
    ],
  },
  {
    name: 'loading: an absent record of a non-null item is null',
    edits: [
      [
        'src/engine/execute/load-record.ts',
        "if (value === null && keeps !== 'always') return null;",
        'if (value === null) return null;',
      ],
    ],
  },
  {
    name: 'loading: an absent record is returned as if it existed',
    edits: [
      [
        'src/upstream/loading/record-loader.ts',
        'state.isAbsent = true;\n      cachePolicy.restrict(null);',
        'cachePolicy.restrict(null);',
      ],
    ],
  },
  {
    name: 'loading: responses from before a write are reused after it',
    edits: [['src/upstream/upstream-session.ts', 'this.responseLoader?.clear();', '']],
  },
  {
    name: 'sharing: a write keeps reads in flight shared',
    edits: [
      ['src/upstream/http/call.ts', "if (endpoint.method !== 'GET') services.inFlight.forget(this.credential);", ''],
      ['src/upstream/client.ts', '(inFlight.forget(), records.invalidate(tags))', 'records.invalidate(tags)'],
    ],
  },
  {
    name: 'cache: a write invalidates nothing',
    edits: [
      [
        'src/upstream/upstream-session.ts',
        'if (tags.length > 0 && !(await this.services.invalidate(tags))) this.replicasMayLag = true;',
        '',
      ],
    ],
  },
  {
    name: "cache: a person's own collection is kept with the book",
    edits: [
      [
        'src/upstream/cache/handle.ts',
        'if (viewerMember !== undefined && viewerMember in value) delete value[viewerMember];',
        '',
      ],
    ],
  },
  {
    name: 'cache: records read with a token are cached for clients without one',
    edits: [['src/upstream/cache/record-cache.ts', "(share === 'anonymous' && hasToken)", 'false']],
  },
  {
    name: 'cache: a response that varies with the token is kept for others',
    edits: [
      ['src/upstream/cache/caching-header.ts', "if (vary !== undefined && varies(vary, rules)) return 'vary';", ''],
    ],
  },
  {
    name: 'cache: it is still remembered that a record is absent which a write made',
    edits: [
      [
        'src/upstream/cache/memory.ts',
        'if (entry.keptUntil > performance.now() && isCurrent(entry.version, key)) return entry;',
        'if (entry.keptUntil > performance.now() && (entry.isAbsent || isCurrent(entry.version, key))) return entry;',
      ],
    ],
  },
  {
    name: "cache: the real service's headers let nothing be kept",
    edits: [['src/upstream/cache/caching-header.ts', "mode === 'relaxed' && share !== 'viewer';", 'mode === share;']],
  },
  {
    name: 'cache: absence is not remembered',
    edits: [['src/upstream/cache/handle.ts', 'if (until <= now) return;', 'if (until > now) return;']],
  },
  {
    // The same line for values that arrive late (`onRejected`) has no effect with this schema: none of them fails at a non-null position.
    name: 'executor: null at a non-null position is not propagated',
    edits: [
      ['src/engine/execute/execution.ts', 'if (position.isNonNull && !nullsInPlace(execution)) throw failure;', ''],
    ],
  },
  {
    name: 'executor: an error in a list is reported at the first item',
    edits: [
      [
        'src/engine/execute/execution.ts',
        'return valueAt(execution, path!.prev)?.[path!.key] as',
        'return valueAt(execution, path!.prev)?.[typeof path!.key === "number" ? 0 : path!.key] as',
      ],
    ],
  },
  {
    name: 'fast path: a public cached response is served to a client with a token',
    edits: [['src/server/graphql/request.ts', 'headers.authorization === undefined && ', '']],
  },
  {
    name: 'fast path: cached responses survive a write',
    edits: [['src/server/graphql/json-response.ts', 'if (epoch() !== cachedIn) {', 'if (false) {']],
  },
  {
    name: 'limits: an operation over the limit of calls runs',
    edits: [['src/engine/documents/limits.ts', 'if (excess) {', 'if (false) {']],
  },
  {
    name: 'limits: a failed call keeps its connection',
    edits: [
      [
        'src/upstream/http/attempts.ts',
        'this.leave();\n    if (this.isSettled) return;\n    const failure',
        'if (this.isSettled) return;\n    const failure',
      ],
    ],
  },
  {
    name: 'limits: the deadline of an ended operation stays',
    edits: [['src/server/http/connections/admission.ts', '      if (deadline) this.stopDeadline(deadline);\n', '']],
  },
  {
    name: 'sharing: a read in flight stays shared after its response',
    edits: [['src/upstream/http/in-flight.ts', 'if (requests.get(this.key) === this) requests.delete(this.key);', '']],
  },
  {
    name: 'calls: a write whose response is lost is sent again',
    edits: [
      [
        'src/upstream/http/attempts.ts',
        "return hasTime && this.request.method === 'GET' && this.attempts",
        'return hasTime && this.attempts',
      ],
    ],
  },
  {
    name: 'pages: a feed starts one entry too early',
    edits: [['src/engine/values/paging.ts', "'start-index': start + 1", "'start-index': start"]],
  },
  {
    name: 'pages: a page that the service says to begin elsewhere is shown',
    edits: [['src/upstream/http/list-window.ts', 'if (stated >= start || written === start)', 'if (stated >= 0)']],
  },
  {
    name: 'pages: the last page says that there is another',
    edits: [['src/engine/values/paging.ts', 'end < total', 'end <= total']],
  },
  {
    name: 'introspection: a field has another description than in the published schema',
    edits: [['src/engine/null-conditions.ts', '`Null if ${condition}.`', '`Null if not ${condition}.`']],
  },
  {
    name: 'introspection: its fields get no arguments',
    edits: [
      [
        'src/engine/execute/executor.ts',
        '(source, { context, variables }) => plain(source, args(variables), context, info)',
        '(source, { context }) => plain(source, {}, context, info)',
      ],
    ],
  },
  {
    name: 'origin: the total of a list is that of the page',
    edits: [
      [
        'src/origin/store/database/database.ts',
        'total: this.total(typed),',
        'total: Math.min(this.total(typed), start + count),',
      ],
    ],
  },
  {
    name: 'origin: `fields` takes the total from a list',
    edits: [
      [
        'src/origin/exchange.ts',
        'return { ...record, [list]: Array.isArray(items) ? items.map(pick) : items };',
        'return { [list]: Array.isArray(items) ? items.map(pick) : items };',
      ],
    ],
  },
  {
    name: 'atom over the origin: the place of an event is read from another attribute',
    edits: [['src/atom/fields.ts', "attributes: ['valueString']", "attributes: ['value']"]],
  },
  {
    name: 'atom over the origin: begin and end of an event are exchanged',
    edits: [
      [
        'src/atom/encode.ts',
        "'gd:when', { endTime, startTime }",
        "'gd:when', { endTime: startTime, startTime: endTime }",
      ],
    ],
  },
  {
    name: 'answers: a declared charset is ignored',
    edits: [
      [
        'src/upstream/http/response.ts',
        'for (const charsetOf of charsetSources) {',
        'for (const charsetOf of charsetSources.slice(2)) {',
      ],
    ],
  },
  {
    name: 'answers: texts of HTML are shown as source',
    edits: [['src/atom/fields.ts', 'isHtmlText(type) ? textOfHtml(text) : text', 'text']],
  },
  {
    name: 'answers: a list that PHP writes as an object is none',
    edits: [['src/lib/objects.ts', 'if (keys.length === 0 || !keys.every(', 'if (keys.length > 0 || !keys.every(']],
  },
  {
    name: 'answers: a service that asks for a pause is called again',
    edits: [
      [
        'src/upstream/http/rejection.ts',
        "return pauses.begin(endpoint, credential, status === 403 ? 'group' : 'endpoint', asked);",
        'return asked;',
      ],
    ],
  },
  {
    name: 'replicas: a lease is never given up',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/redis/updates.ts',
        'if (!lease?.readers.delete(reader) || lease.readers.size > 0) return;',
        'if (lease !== undefined) return;',
      ],
    ],
  },
  {
    name: 'replicas: a response from before an invalidation is stored',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/redis/scripts/cache-scripts.ts',
        "if isCurrent or (readIn ~= '' and readIn == before) then",
        'if true then',
      ],
    ],
  },
  {
    name: 'replicas: an entry is used though one of its names was invalidated',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/redis/scripts/cache-scripts.ts',
        'fresh = written == stamp and tonumber(fresh) or 0',
        'fresh = written and tonumber(fresh) or 0',
      ],
    ],
  },
  {
    name: 'replicas: epochs that another run of Redis has made are trusted',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/redis/scripts/cache-scripts.ts',
        'if epoch and string.sub(epoch, 1, #run) == run then',
        'if epoch then',
      ],
    ],
  },
  {
    name: 'replicas: the shared state is named by the text of an address',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/redis/keys.ts',
        'return `${protocol}//${host}${pathname',
        'return address || `${protocol}//${host}${pathname',
      ],
    ],
  },
  {
    name: 'replicas: a connection whose peer is gone is used for as long as the system keeps it',
    isOfReplicas: true,
    edits: [['src/upstream/redis/connection/client.ts', '    socketTimeout: SILENT_MS,\n', '']],
  },
  {
    name: 'replicas: memory is used without a question whether it was invalidated',
    isOfReplicas: true,
    edits: [['src/upstream/redis/lookups.ts', 'return this.replied > since;', 'return since >= 0;']],
  },
  {
    name: 'replicas: a reader is handed what the credential of another reads',
    isOfReplicas: true,
    edits: [
      [
        'src/upstream/cache/record-cache.ts',
        "return share === 'tier' ? tierPartition(credential) : share;",
        'return share;',
      ],
    ],
  },
];
