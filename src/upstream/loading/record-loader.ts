/**
 * Loads members of records. No endpoint takes several ids, so a batch is everything that one tick needs of each record: all loads of a tick
 * for one record become one request with the union of their members.
 */
import DataLoader from 'dataloader';
import type { Path } from 'graphql/jsutils/Path.js';
import { withMembers } from '../../lib/objects.ts';
import { ageOf } from '../cache/handle.ts';
import type { CacheEntry } from '../cache/memory.ts';
import { createApiRequest, insert, requestIfUsable } from '../../api/api-request.ts';
import type { ApiResponse } from '../http/response.ts';
import { type LoadContext, maySaveCall, staleAfter, useFresh } from './load-context.ts';
import {
  type MemberLoad,
  RecordState,
  isShownAbsent,
  loadsOf,
  markWithheld,
  merge,
  missingOf,
  setError,
  shownByFailure,
  viewOf,
} from './record-state.ts';
import {
  type MemberNames,
  type RecordSource,
  type UpstreamRecord,
  isUpstreamMember,
  keyMembersOf,
  wantsWhole,
} from '../../api/record-source.ts';

export class RecordLoader {
  private readonly context: LoadContext;
  private readonly states = new Map<string, RecordState>();
  private readonly loader = new DataLoader<MemberLoad, Promise<void>>(
    // Promises, not Promise.all: each record settles as soon as its own response is there.
    async (loads) => loads.map((load) => this.fetch(load)),
    { cache: false, name: 'records' },
  );

  constructor(context: LoadContext) {
    this.context = context;
  }

  /** The record with these members in addition to the known ones; null if it is absent. A promise only if a member is not there yet. */
  load(
    kind: string,
    source: RecordSource,
    key: string,
    members: MemberNames,
    known: UpstreamRecord,
    path: Path | undefined,
  ): Promise<UpstreamRecord | null> | UpstreamRecord | null {
    const { cachePolicy, viewer } = this.context;
    const state = this.stateOf(kind, source, key);
    if (state.isAbsent) return null;
    const { viewerMember } = source.endpoint;
    if (viewer.isLoggedIn && viewerMember !== undefined && members.includes(viewerMember)) cachePolicy.restrict(null);
    const missing = missingOf(state, members);
    let loads = loadsOf(state, members);
    if (missing) {
      const cached = state.cache.get(missing);
      if (!cached || cached instanceof Promise || !this.mergeCached(state, missing, cached, path)) {
        const load = this.loadOf(state, missing, cached, path);
        if (!loads.includes(load)) loads = [...loads, load];
      }
    }
    if (loads.length === 0) return viewOf(known, state, members);
    const done = loads.length === 1 ? loads[0]!.done! : Promise.all(loads.map((load) => load.done!));
    return done.then(() => viewOf(known, state, members));
  }

  /** True if it is known that there is no such record; a function that finds out where other processes may have made or removed it. */
  absenceOf(kind: string, source: RecordSource, key: string): true | (() => Promise<boolean>) | undefined {
    const { isAbsent, cache } = this.stateOf(kind, source, key);
    if (isAbsent) return true;
    if (this.context.cache.parts.isShared) return async () => cache.isAbsent();
    return cache.isAbsent() === true || undefined;
  }

  /**
   * Adds the response to a call that shows whether the record exists: null says that there is none. A failed call counts for a reference,
   * because one upstream may know a person whom the other lacks.
   */
  addEvidence(kind: string, source: RecordSource, key: string, response: Promise<unknown>, isReference = false): void {
    const state = this.stateOf(kind, source, key);
    (state.evidence ??= []).push(isReference ? response.catch(shownByFailure) : response);
  }

  /** Whether the calls of the operation say that there is no such record. Waits for those in flight. */
  isAbsent(kind: string, source: RecordSource, key: string): Promise<boolean> {
    return isShownAbsent(this.stateOf(kind, source, key));
  }

  /**
   * Members of a record that another response of the operation has provided, or said to be absent. Those that failed stay unknown. The key is
   * not taken from it: the client may have given it, and the service may show no such record.
   */
  provide(kind: string, source: RecordSource, provided: UpstreamRecord, members: MemberNames): void {
    const key = source.keyOf ? source.keyOf(provided as never) : (provided.id as string | undefined);
    if (!key) return;
    const { record } = this.stateOf(kind, source, String(key));
    const keys = keyMembersOf(source);
    for (const member of members) {
      if (keys.includes(member)) continue;
      const hasFailed = member in provided && !Object.prototype.propertyIsEnumerable.call(provided, member);
      if (!(member in record) && !hasFailed) record[member] = provided[member];
    }
  }

  /** Records are loaded again after a mutation. */
  clear(): void {
    this.states.clear();
  }

  /** The record that `load` would request now; null if it would request none. */
  async wouldRequest(kind: string, source: RecordSource, key: string, members: MemberNames): Promise<string | null> {
    const { calls, cache } = this.context;
    const request = requestIfUsable(source.endpoint, source.input(key));
    if (!request || calls.refuses(request)) return null;
    const handle = cache.record(source.endpoint, kind, key);
    const cached = await handle.get(members, true);
    const wanted = members.filter((member) => isUpstreamMember(source, member));
    const isSaved = cached && maySaveCall(source.endpoint, handle, cached) && this.isCovered(source, wanted, cached);
    return isSaved ? null : `${kind}:${key}`;
  }

  private stateOf(kind: string, source: RecordSource, key: string): RecordState {
    const id = `${kind}:${key}`;
    let state = this.states.get(id);
    if (state) return state;
    state = new RecordState(kind, key, source, this.context.cache.record(source.endpoint, kind, key));
    this.states.set(id, state);
    return state;
  }

  /** The load of this tick for the record, with these members. */
  private loadOf(state: RecordState, members: MemberNames, cached: MemberLoad['cached'], path?: Path): MemberLoad {
    const open = state.loads.find(({ isOpen }) => isOpen);
    if (open) {
      open.members = [...open.members, ...members].sort(); // without duplicates: a member that is loading is not missing
      return open;
    }
    const load: MemberLoad = { state, members, cached, path, isOpen: true, done: undefined };
    state.loads = [...state.loads, load];
    load.done = this.loader.load(load);
    return load;
  }

  /** An error is stored for each member that it cost; the view of the record throws it. */
  private async fetch(load: MemberLoad): Promise<void> {
    load.isOpen = false;
    const { state, members, path } = load;
    try {
      const cached = await load.cached;
      if (!cached || !this.mergeCached(state, members, cached, path)) await this.request(load, cached);
    } catch (error) {
      for (const member of members) if (!(member in state.record)) setError(state, member, error as Error);
    }
    state.loads = state.loads.filter((each) => each !== load);
    state.cache.release();
  }

  /** Uses what is cached if upstream failed, but not if it denied access. */
  private async request(load: MemberLoad, cached: CacheEntry | undefined): Promise<void> {
    const { calls } = this.context;
    const { state, members, path } = load;
    const { source, key, cache } = state;
    // What is old is requested again with the rest: that is no further call.
    const fresh = cached && cache.isFresh(cached) && !cache.isOld(cached) ? cached : undefined;
    const projected = projection(source, this.membersToRequest(load, fresh));
    const request = createApiRequest(source.endpoint, source.input(key), projected);
    try {
      const response = await calls.send(request, path, { reader: cache });
      this.store(load, fresh, projected, response);
    } catch (error) {
      const stale = staleAfter(this.context, source.endpoint, cache, cached, error);
      if (!stale) throw error;
      const available = members.filter((member) => member in stale.value);
      if ((stale.isAbsent || available.length) && (!cache.isFresh(stale) || cache.isOld(stale)))
        calls.logCached(request, path, { how: 'stale', staleSeconds: ageOf(stale) });
      if (stale.isAbsent) return void (state.isAbsent = true);
      merge(state, stale.value, available);
      if (source.endpoint.gates) markWithheld(state, Object.keys(stale.value), calls);
      throw error;
    }
  }

  /** The members that are not cached, and those that show whether the caller's tier gets them. */
  private membersToRequest({ state: { source }, members }: MemberLoad, fresh: CacheEntry | undefined): MemberNames {
    const known = fresh?.value;
    const missing = known ? members.filter((member) => !(member in known)) : members;
    if (!source.endpoint.gates) return missing;
    const { calls } = this.context;
    const unknown = known ? members.filter((member) => known[member] === undefined) : members;
    const evidence = calls.tierEvidence(source.endpoint, unknown);
    if (evidence.length === 0) return missing;
    const all = missing.slice();
    for (const member of evidence) if (!all.includes(member) && !(known && member in known)) insert(all, member);
    return all;
  }

  /**
   * Whether all these members are cached. Another replica that knows the tier of the credential may have cached an absent member
   * without those that show here whether the tier withholds it.
   */
  private isCovered(source: RecordSource, members: MemberNames, { isAbsent, value }: CacheEntry): boolean {
    if (isAbsent) return true;
    for (const member of members) if (!(member in value)) return false;
    if (!source.endpoint.gates) return true;
    const absent = members.filter((member) => value[member] === undefined);
    if (absent.length === 0) return true;
    const { calls } = this.context;
    return calls.tiers.evidence(source.endpoint, absent, calls.possibleTiers()).every((member) => member in value);
  }

  /** False if they are not cached and fresh. */
  private mergeCached(state: RecordState, members: MemberNames, cached: CacheEntry, path: Path | undefined): boolean {
    const { source, key, cache } = state;
    if (!cache.isFresh(cached) || !this.isCovered(source, members, cached)) return false;
    useFresh(this.context, createApiRequest(source.endpoint, source.input(key)), cache, cached, path);
    if (cached.isAbsent) {
      state.isAbsent = true;
      return true;
    }
    merge(state, cached.value, members);
    if (source.keyOf) this.nameAgain(state, source.keyOf);
    if (source.endpoint.gates) markWithheld(state, Object.keys(cached.value), this.context.calls);
    return true;
  }

  /** A record that was requested by another name, as a person by a uid, is found by its own key from then on. */
  private nameAgain(state: RecordState, keyOf: NonNullable<RecordSource['keyOf']>): void {
    const { kind, key, record } = state;
    const own = keyOf(record as never);
    if (own && own !== key && !this.states.has(`${kind}:${own}`)) this.states.set(`${kind}:${own}`, state);
  }

  private store(
    { state, members }: MemberLoad,
    fresh: CacheEntry | undefined,
    projected: MemberNames | undefined,
    response: ApiResponse,
  ): void {
    const { calls, cachePolicy } = this.context;
    const { source, key, cache } = state;
    const { value } = response;
    const record = (value !== null && source.read ? source.read(value as never, key) : value) as UpstreamRecord | null;
    if (response.reuse.refusal === 'no-store') cachePolicy.forbidsStoring = true;
    if (!record) {
      state.isAbsent = true;
      cachePolicy.restrict(null);
      if (value === null) cache.putAbsent(response);
      else cache.delete();
      return;
    }
    if (!projected) state.isWhole = true;
    // Only requested members are known to be absent: extra members in the response do not prove that all were sent.
    const known = projected ?? source.members ?? members;
    if (fresh) {
      merge(state, withMembers(fresh.value, record), members);
      cachePolicy.restrict(fresh.freshUntil, source.endpoint);
    } else merge(state, record, members);
    if (source.keyOf) this.nameAgain(state, source.keyOf);
    if (source.endpoint.gates) {
      const requested = fresh ? [...known, ...Object.keys(fresh.value)] : known;
      markWithheld(state, requested, calls);
    }
    // A person named by a uid is cached with the id.
    const all = source.keyMembers && source.members ? [...source.members, ...source.keyMembers] : source.members;
    cachePolicy.restrict(cache.putRecord(record, known, response, all), source.endpoint);
  }
}

/** The `fields` parameter of a record's request; none if nearly all are wanted. */
function projection(source: RecordSource, members: MemberNames): MemberNames | undefined {
  if (!source.members || !source.endpoint.hasFields || wantsWhole(source, members)) return undefined;
  if (members.includes('id')) return members;
  const projected = members.slice();
  insert(projected, 'id');
  return projected;
}
