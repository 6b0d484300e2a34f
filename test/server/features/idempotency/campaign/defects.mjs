/** Defects that are planted to test the tests of keys: each is an edit of a file of the sources. */
const keys = 'src/server/features/idempotency';
const settling = 'src/engine/settle';
const shared = 'two facades';
const alone = 'in memory';
const absenceCounts = [`${keys}/keyed-write.ts`, 'leftMs > 0 || finding.kind', 'finding.kind'];

/** `row` and `group` are words of the campaign; without them `file` is run. */
export const defects = [
  {
    name: 'what a lost write has created is not recognised',
    row: 'responses are lost',
    group: alone,
    writes: 100,
    edits: [
      [
        `${settling}/new-items.ts`,
        'if (found) return more.length === 0 ? there(found, String(found.id)) : unknown;',
        '',
      ],
    ],
  },
  {
    name: 'a write ends with its client, and what is absent then is sent again',
    row: 'lost patience',
    group: alone,
    edits: [
      absenceCounts,
      [
        'src/upstream/http/call-policy.ts',
        '{ ...context, cancellation: createCancellationToken(), mayBegin }',
        '{ ...context, mayBegin }',
      ],
    ],
  },
  { name: 'absence counts at once', row: 'after the end of the call', group: alone, edits: [absenceCounts] },
  {
    name: 'nothing is kept of a request whose client has left',
    row: 'leaves at a step',
    group: alone,
    edits: [
      [
        `${keys}/keyed-run.ts`,
        'await held.end(keptOf(journal, result));',
        "await held.end(cancellation.reason ? { kind: 'nothing' } : keptOf(journal, result));",
      ],
    ],
  },
  {
    name: 'writes of an operation are known by their order',
    row: 'several mutations',
    group: alone,
    edits: [
      [`${keys}/journal.ts`, 'counts.get(field)', "counts.get('')"],
      [`${keys}/journal.ts`, 'counts.set(field,', "counts.set('',"],
      [`${keys}/journal.ts`, 'const at = `${field} ${number}`;', 'const at = `${number}`;'],
      [`${keys}/journal.ts`, 'recorded.request !== request', 'false'],
    ],
  },
  {
    name: 'a short page is the whole list',
    row: 'hidden items',
    group: alone,
    edits: [[`${settling}/new-items.ts`, 'total === undefined ? isEmpty :', 'some.length < size ||']],
  },
  {
    name: 'a write is settled by what was there before',
    row: 'equal words',
    group: alone,
    edits: [[`${settling}/new-items.ts`, 'if (others.includes(String(item.id))) continue;', '']],
  },
  {
    name: 'a changed record is written over',
    row: 'changes the record',
    group: alone,
    edits: [
      [`${settling}/record-rules.ts`, 'return isUnchanged ? absent : unknown;', 'return absent;'],
      [
        `${settling}/record-rules.ts`,
        "if (stored === 'all' && isOurs(record, input)) return there(record);\n      return before?.state === stateOf(members(record)) ? absent : unknown;",
        "if (stored === 'all' && isOurs(record, input)) return there(record);\n      return absent;",
      ],
    ],
  },
  {
    name: 'an item that was deleted through the facade is made again',
    row: 'deletes the item through',
    group: alone,
    edits: [
      [
        `${keys}/keyed-write.ts`,
        'return since.some(({ name, id }) => name === undefined && id === undefined);',
        'return false;',
      ],
    ],
  },
  {
    name: 'a key belongs to a token',
    row: 'token is renewed',
    group: alone,
    edits: [[`${keys}/store/key-run.ts`, 'if (whose === undefined) return [own];', 'return [own];']],
  },
  {
    name: 'what a token claimed is lost when its person becomes known',
    row: 'becomes known',
    group: shared,
    edits: [
      [
        `${keys}/store/key-run.ts`,
        'return [ofPerson, ...new Set([own, ...linked.map(credentialOwner)])];',
        'return [ofPerson];',
      ],
    ],
  },
  {
    name: 'the journal is kept at the end only, and its process may die or be paused before',
    file: 'store/places',
    edits: [[`${keys}/store/key-run.ts`, "kind: 'journal', text: recorded, savedAt", "kind: 'journal', text, savedAt"]],
  },
  {
    name: 'the times of writes are by the clock of each process',
    row: 'after the end of the call',
    group: 'clocks',
    edits: [
      [`${keys}/keyed-write.ts`, 'entry.endedAt = await store.now();', 'entry.endedAt = Date.now();'],
      [`${keys}/keyed-write.ts`, 'const now = await store.now();', 'const now = Date.now();'],
    ],
  },
  {
    name: 'keys are in the cache that evicts',
    row: 'responses are lost',
    group: 'cache that evicts',
    writes: 60,
    edits: [
      [
        'src/upstream/redis/connection/key-redis.ts',
        'const { idempotencyRedisUrl: url } = settings;',
        'const { idempotencyRedisUrl: given } = settings;\n  const url = [given].find(() => false);',
      ],
    ],
  },
  {
    name: 'cached records fill a Redis that evicts nothing',
    row: 'responses are lost',
    group: 'filled by reads',
    edits: [['src/upstream/redis/connection/room.ts', 'if (left < characters) return false;', '']],
  },
  {
    name: 'a process does not answer for what it has written',
    row: 'asks again',
    group: 'one Redis that forgets',
    edits: [[`${keys}/store/remote-entries.ts`, "if (own?.isOwn && (found.text === '' || ", 'if (own?.isOwn && (']],
  },
  {
    name: 'the variables are hashed at each level of nesting',
    file: 'key',
    edits: [[`${keys}/key.ts`, "waiting.push(']');", "hashOf(JSON.stringify(items));\n  waiting.push(']');"]],
  },
  {
    name: 'a key is not scoped to its caller',
    row: 'same key',
    group: alone,
    writes: 12,
    edits: [
      [
        `${keys}/store/names.ts`,
        '`${hashOfOwner(owner)}.key.${hashOf(`key ${owner.length} ${owner}${key}`)}`',
        '`${hashOfOwner()}.key.${hashOf(`key ${key}`)}`',
      ],
    ],
  },
  {
    name: 'a second request does not wait',
    file: 'keys',
    edits: [
      [
        `${keys}/store/key-run.ts`,
        'if (ids.some((each) => running.has(each)) || holderOf(get(id), now) !== undefined) return { busy: ids };',
        '',
      ],
    ],
  },
];
