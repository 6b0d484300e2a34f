/**
 * Loads fields of records. No endpoint takes several ids, so a batch is everything that one tick needs of each record: all loads of a tick
 * for one record become one request with the union of their fields.
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import { withMembers } from '../../lib/objects.ts';
import type { Cached } from '../cache/record-cache.ts';
import { VIEWER_FIELD } from '../cache/redact.ts';
import { createApiRequest, insert } from '../http/request.ts';
import type { ApiResponse } from '../http/response.ts';
import { type LoadContext, projectedRequest, staleAfter, useFresh } from './load-context.ts';
import {
  type FieldLoad,
  type FieldNames,
  type RecordSource,
  RecordState,
  type UpstreamRecord,
  isUpstreamField,
  loadsOf,
  merge,
  missingOf,
  setError,
  viewOf,
  wantsWhole,
} from './record-state.ts';

export class RecordLoader {
  private readonly context: LoadContext;
  private readonly states = new Map<string, RecordState>();
  private readonly loader = new DataLoader<FieldLoad, Promise<void>>(
    // Promises, not Promise.all: each record settles as soon as its own response is there.
    async (loads) => loads.map((load) => this.fetch(load)),
    { cache: false, name: 'records' },
  );

  constructor(context: LoadContext) {
    this.context = context;
  }

  /** The record with these fields in addition to the known ones; null if it is absent. A promise only if a field is not there yet. */
  load(
    kind: string,
    source: RecordSource,
    key: string,
    names: FieldNames,
    known: UpstreamRecord,
    path: Path | undefined,
  ): Promise<UpstreamRecord | null> | UpstreamRecord | null {
    const { cachePolicy, viewer } = this.context;
    const state = this.stateOf(kind, source, key);
    if (state.isAbsent) return null;
    if (viewer.isLoggedIn && names.includes(VIEWER_FIELD)) cachePolicy.restrict(null);
    const missing = missingOf(state, names);
    let loads = loadsOf(state, names);
    if (missing) {
      const cached = state.cache.get(missing);
      if (cached instanceof Promise || !this.mergeCached(state, missing, cached, path)) {
        const load = this.loadOf(state, missing, cached, path);
        if (!loads.includes(load)) loads = [...loads, load];
      }
    }
    if (loads.length === 0) return viewOf(known, state, names);
    const done = loads.length === 1 ? loads[0]!.done! : Promise.all(loads.map((load) => load.done!));
    return done.then(() => viewOf(known, state, names));
  }

  /** Records are loaded again after a mutation. */
  clear(): void {
    this.states.clear();
  }

  /** The record that `load` would request now; null if it would request none. */
  async wouldRequest(kind: string, source: RecordSource, key: string, names: FieldNames): Promise<string | null> {
    const { calls, cache } = this.context;
    if (calls.refuses(source.endpoint)) return null;
    const cached = await cache.record(source.endpoint, kind, key).peek(names);
    const isCached = cached?.isFresh && names.every((name) => name in cached.value || !isUpstreamField(source, name));
    return isCached ? null : `${kind}:${key}`;
  }

  private stateOf(kind: string, source: RecordSource, key: string): RecordState {
    const id = `${kind}:${key}`;
    let state = this.states.get(id);
    if (state) return state;
    state = new RecordState(kind, key, source, this.context.cache.record(source.endpoint, kind, key));
    this.states.set(id, state);
    return state;
  }

  /** The load of this tick for the record, with these fields. */
  private loadOf(state: RecordState, names: FieldNames, cached: FieldLoad['cached'], path?: Path): FieldLoad {
    const open = state.loads.find(({ isOpen }) => isOpen);
    if (open) {
      open.names = [...open.names, ...names].sort(); // without duplicates: a field that is loading is not missing
      return open;
    }
    const load: FieldLoad = { state, names, cached, path, isOpen: true, done: undefined };
    state.loads = [...state.loads, load];
    load.done = this.loader.load(load);
    return load;
  }

  /** An error is stored for each field that it cost; the view of the record throws it. */
  private async fetch(load: FieldLoad): Promise<void> {
    load.isOpen = false;
    const { state, names, path } = load;
    try {
      const cached = await load.cached;
      if (!this.mergeCached(state, names, cached, path)) await this.request(load, cached);
    } catch (error) {
      for (const name of names) if (!(name in state.record)) setError(state, name, error as Error);
    }
    state.loads = state.loads.filter((each) => each !== load);
    state.cache.release();
  }

  /** Uses what is cached if upstream failed, but not if it denied access. */
  private async request(load: FieldLoad, cached: Cached | undefined): Promise<void> {
    const { calls } = this.context;
    const { state, names, path } = load;
    const { source, key, cache } = state;
    // What is due is requested again with the rest: that is no further call.
    const fresh = cached?.isFresh && !cached.isDue ? cached : undefined;
    const fields = projection(source, this.fieldsToRequest(load, fresh));
    const request = projectedRequest(source.endpoint, source.input(key), fields);
    try {
      this.store(load, fresh, fields, await calls.send(request, path, cache.isShareable()));
    } catch (error) {
      const stale = staleAfter(this.context, source.endpoint, cache, cached, error);
      if (!stale) throw error;
      const available = names.filter((name) => name in stale.value);
      if (available.length && (!stale.isFresh || stale.isDue))
        calls.logCached(request, path, { staleSeconds: stale.ageSeconds });
      merge(state, stale.value, available, calls.possibleTiers(), requestedFieldsOf(source, stale, available));
      throw error;
    }
  }

  /** The fields that are not cached, and those that show whether the caller's tier gets them. */
  private fieldsToRequest({ state: { source }, names }: FieldLoad, fresh: Cached | undefined): FieldNames {
    const known = fresh?.value;
    const missing = known ? names.filter((name) => !(name in known)) : names;
    const evidence = this.context.calls.tierEvidence(source, missing);
    if (evidence.length === 0) return missing;
    const all = missing.slice();
    for (const name of evidence) if (!all.includes(name) && !(known && name in known)) insert(all, name);
    return all;
  }

  /** False if a field is not cached, or is no longer fresh. */
  private mergeCached(
    state: RecordState,
    names: FieldNames,
    cached: Cached | undefined,
    path: Path | undefined,
  ): boolean {
    if (!cached?.isFresh || !names.every((name) => name in cached.value)) return false;
    const { source, key } = state;
    if (cached.isDue) this.refresh(state, cached);
    useFresh(this.context, createApiRequest(source.endpoint, source.input(key)), cached, path);
    merge(state, cached.value, names, this.context.calls.possibleTiers(), requestedFieldsOf(source, cached, names));
    return true;
  }

  /** All fields that are cached, so that none is lost. */
  private refresh({ kind, key, source }: RecordState, { value }: Cached): void {
    const names = Object.keys(value).filter((name) => isUpstreamField(source, name));
    const run = (context: LoadContext) =>
      new RecordLoader(context).load(kind, source, key, names.sort(), {}, undefined);
    this.context.refresh({ id: `${kind}:${key}`, service: source.endpoint.service, run });
  }

  private store(
    { state, names }: FieldLoad,
    fresh: Cached | undefined,
    fields: FieldNames | undefined,
    response: ApiResponse,
  ): void {
    const { calls, cachePolicy } = this.context;
    const { source, key, cache } = state;
    const record = recordIn(response, source, key);
    if (!record) {
      state.isAbsent = true;
      cachePolicy.restrict(null);
      cache.delete();
      return;
    }
    if (!fields) state.isWhole = true;
    // Only requested fields are known to be absent: extra fields in the response do not prove that all were sent.
    const known = fields ?? source.members ?? names;
    if (fresh) {
      const requested = source.tiers ? [...known, ...Object.keys(fresh.value)] : names;
      merge(state, withMembers(fresh.value, record), names, calls.possibleTiers(), requested);
      cachePolicy.restrict(fresh.freshUntil, source.endpoint);
    } else merge(state, record, names, calls.possibleTiers(), known);
    cachePolicy.restrict(cache.put(record, known, response), source.endpoint);
    if (response.reuse.forbidsStoring) cachePolicy.forbidsStoring = true;
  }
}

function recordIn({ value }: ApiResponse, { read }: RecordSource, key: string): UpstreamRecord | null {
  if (value === null) return null;
  return (read ? read(value as never, key) : value) as UpstreamRecord | null;
}

/** The `fields` parameter of a record's request; none if nearly all are wanted. */
function projection(source: RecordSource, names: FieldNames): FieldNames | undefined {
  if (!source.members || source.endpoint.service === 'events' || wantsWhole(source, names)) return undefined;
  if (names.includes('id')) return names;
  const fields = names.slice();
  insert(fields, 'id');
  return fields;
}

/** What was requested together with these fields of a cached record; it matters where tiers get different fields. */
const requestedFieldsOf = ({ tiers }: RecordSource, cached: Cached, names: FieldNames): FieldNames =>
  tiers ? Object.keys(cached.value) : names;
