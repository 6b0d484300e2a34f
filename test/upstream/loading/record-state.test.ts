import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookEndpoints, bookMembers } from '../../../src/api/book.ts';
import { createRecordCache } from '../../../src/upstream/cache/record-cache.ts';
import type { RecordSource } from '../../../src/api/record-source.ts';
import { RecordState, merge, missingOf, setError, viewOf } from '../../../src/upstream/loading/record-state.ts';

const source: RecordSource = { endpoint: bookEndpoints.byId, input: (id) => ({ id }), members: bookMembers };
const cache = createRecordCache({ ttlSeconds: 0 }).forViewer({
  credential: { id: 'nobody', isOwn: true, accepted: false },
});
const name = fc.constantFrom(...bookMembers.filter((member) => member !== 'id'));
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 8 });
/** A record of upstream: fields that are not in it are absent there. */
const upstreamRecord = fc.dictionary(name, fc.string(), { noNullPrototype: true });

const pick = (record: Record<string, unknown>, fields: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([field]) => fields.includes(field)));
const stateWith = (record: Record<string, unknown>, parts: readonly string[][]) => {
  const state = new RecordState('Book', '7', source, cache.record(source.endpoint, 'Book', '7'));
  for (const part of parts) merge(state, pick(record, part), part);
  return state;
};

test('partial records merged in any order give the same fields', () => {
  fc.assert(
    fc.property(upstreamRecord, fc.array(names, { minLength: 1 }), fc.nat(), (record, parts, shift) => {
      const turn = shift % parts.length;
      const all = [...new Set(parts.flat())];
      const one = viewOf({ id: '7' }, stateWith(record, parts), all);
      const other = viewOf({ id: '7' }, stateWith(record, [...parts.slice(turn), ...parts.slice(0, turn)]), all);
      expect(one).toEqual({ id: '7', ...pick(record, all) });
      expect(other).toEqual(one);
    }),
  );
});

test('a field is missing until it was requested, even if upstream has no value for it', () => {
  fc.assert(
    fc.property(upstreamRecord, fc.array(names), names, (record, parts, wanted) => {
      const state = stateWith(record, parts);
      const requested = new Set(parts.flat());
      expect(missingOf(state, wanted) ?? []).toEqual(wanted.filter((field) => !requested.has(field)));
    }),
  );
});

test('a failed field throws its own error when it is read; loaded and previously known fields stay readable', () => {
  fc.assert(
    fc.property(upstreamRecord, names, names, fc.string(), (record, loaded, failing, title) => {
      const known = Object.freeze({ id: '7', title });
      const failed = failing.filter((field) => !loaded.includes(field));
      const state = stateWith(record, [loaded]);
      for (const field of failed) setError(state, field, new Error(field));
      const view = viewOf(known, state, [...loaded, ...failed])!;
      for (const field of loaded) expect(view[field]).toBe(record[field]);
      for (const field of failed) {
        if (field === 'title') expect(view.title).toBe(title);
        else expect(() => view[field]).toThrow(field);
      }
    }),
  );
});

test('a view is a copy: changing it does not change the record', () => {
  fc.assert(
    fc.property(upstreamRecord, names, fc.string(), (record, wanted, summary) => {
      const state = stateWith(record, [wanted]);
      const before = { ...state.record };
      const view = viewOf({ id: '7', summary }, state, wanted)!;
      for (const field of wanted) view[field] = 'changed';
      expect(state.record).toEqual(before);
    }),
  );
});
