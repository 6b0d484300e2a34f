/** Compares a response with the reference. Each difference must be an error that a fault explains, or a null caused by such an error. */
import { markedFields } from '../../src/engine/null-conditions.ts';
import { schema } from '../../src/graph/schema.ts';
import type { Reference } from './reference.ts';
import type { Fault } from './faults.ts';

export interface Shown {
  data?: unknown;
  errors?: { message: string; path?: (string | number)[]; extensions?: Record<string, unknown> }[];
  extensions?: Record<string, unknown>;
  /** Paths whose deferred part failed completely, so that its fields are missing. */
  lostParts?: string[];
  /** Paths of objects of which a part was deferred. */
  deferredAt?: string[];
}

export interface Violation {
  /** The invariant and the coordinate. Failures of one kind are reported once. */
  kind: string;
  detail: string;
}

export interface Expected {
  reference: Reference;
  /** The fault of a request, without `fields`. */
  faultOf: (request: string) => Fault | undefined;
  /** Codes that need no fault, such as a rate limit reached by earlier operations. */
  isExcused: (code: string) => boolean;
  /** Whether the operation sent a request, without `fields`. */
  wasSent: (request: string) => boolean;
  /** Whether it or an earlier one did. */
  wasEverSent: (request: string) => boolean;
  /** The requests of the operation for any window of the same list, or any variant of the same record. */
  sentWindowsOf: (request: string) => readonly string[];
  /** The service has asked for a pause or refused a call by its rate limit, so a request may not have been sent. */
  isPaused: boolean;
  /** The service sends whole lists, whatever window is requested. */
  ignoresWindows: boolean;
}

const marked = markedFields(schema);

export function compare(
  { reference, faultOf, isExcused, wasSent, wasEverSent, sentWindowsOf, ignoresWindows }: Expected,
  result: Shown,
): Violation[] {
  const violations: Violation[] = [];
  const { places } = reference;
  const errors = new Map<string, string>();
  for (const { path, extensions } of result.errors ?? []) errors.set((path ?? []).join('.'), String(extensions?.code));
  const rightErrors = new Map(reference.errors.map(({ path, code }) => [path, code]));
  /** Places withheld from the tier: a list reports the error only once for its items. */
  const refusedPlaces = new Set<string>();

  for (const [path, code] of errors) {
    if (code === 'TIER_REQUIRED') refusedPlaces.add(withoutPositions(path));
    if (!isExplained(path, code))
      report(
        'unexplained error',
        path,
        `${code} at ${path || 'the whole answer'}; the reference says ${rightErrors.get(path) ?? 'nothing'}`,
      );
  }
  if (!reference.errors.some(({ path }) => path === '')) walk(reference.data, result.data ?? null, '');
  return violations;

  function report(kind: string, path: string, detail: string): void {
    const faults = faultsAt(path);
    violations.push({
      kind: `${kind}: ${coordinateOf(path)}${faults.length ? ` [${faults.join(', ')}]` : ''}`,
      detail,
    });
  }

  /** The faults of the requests that a place depends on. */
  function faultsAt(path: string): Fault[] {
    for (let at = path; ; at = parentOf(at)) {
      const place = places.get(at);
      if (place) return [...place.requests].flatMap((request) => faultOf(request) ?? []);
      if (at === '') return [];
    }
  }

  function coordinateOf(path: string): string {
    return places.get(path)?.coordinate ?? path.replace(/\.?\d+/g, '');
  }

  function isExplained(path: string, code: string): boolean {
    if (isExcused(code)) return true;
    if (isOfOtherPart(path) && (isFaultCode(code) || isSiblingError(path, code))) return true;
    const right = rightErrors.get(path);
    if (right !== undefined && (right === code || right === 'none')) return true;
    if (places.get(path)?.mayFail === code) return true;
    // An unknown token is rejected for every request; another error of the operation may be reported first.
    if (right === 'UNAUTHENTICATED' || isBelowUnauthenticated(path)) return true;
    // A single rejection does not show whether the tier or the record is the reason.
    if (right === 'TIER_REQUIRED' && code === 'FORBIDDEN') return true;
    // An invalid argument of a field that the tier lacks: either error is correct.
    if (right === 'BAD_USER_INPUT' && code === 'TIER_REQUIRED') return true;
    // The nearest ancestor that the reference resolved.
    for (let at = path; ; at = parentOf(at)) {
      const place = places.get(at);
      // Below a value that the reference does not have, every error is the product's own.
      if (place?.accepts && at !== path) return true;
      if (place) {
        // What denies one window or variant denies the others.
        const requests = [...place.requests].flatMap((request) => [request, ...sentWindowsOf(request)]);
        return isFaultCode(code) && requests.some((request) => faultOf(request) !== undefined);
      }
      if (at === '') return false;
    }
  }

  /** An item of another part has the error that the items have which the reference shows. */
  function isSiblingError(path: string, code: string): boolean {
    const place = withoutPositions(path);
    return reference.errors.some((right) => right.code === code && withoutPositions(right.path) === place);
  }

  /** Below a record that the cache serves, although the reference rejects the unknown token. */
  function isBelowUnauthenticated(path: string): boolean {
    for (let at = path; at !== ''; at = parentOf(at)) if (rightErrors.get(at) === 'UNAUTHENTICATED') return true;
    return false;
  }

  /** Whether an error at or below the place propagated null to it; a list reports a tier error only once. */
  function isLost(path: string): boolean {
    if (errors.has(path)) return true;
    const refused = [...rightErrors].filter(
      ([at, code]) => code === 'TIER_REQUIRED' && refusedPlaces.has(withoutPositions(at)),
    );
    for (const each of [...errors.keys(), ...refused.map(([at]) => at)]) {
      if (each !== path && !each.startsWith(path === '' ? '' : `${path}.`)) continue;
      let at = each;
      while (at !== path && isNonNull(at)) at = parentOf(at);
      if (at === path) return true;
    }
    return false;
  }

  /** At the place or below it. */
  function hasErrorAt(path: string): boolean {
    return [...errors.keys()].some((at) => at === '' || at === path || at.startsWith(`${path}.`));
  }

  function isNonNull(path: string): boolean {
    const place = places.get(path);
    return place ? place.isNonNull : true; // an item of a list of leaves
  }

  function walk(right: unknown, got: unknown, path: string): void {
    if (got === null && places.get(path)?.isNonNull) report('null where it may not be', path, `null at ${path}`);
    if (got === null && !/(?:^|\.)\d+$/.test(path) && marked.has(coordinateOf(path)) && !hasErrorAt(path))
      report('null without an error, though marked', path, `null at ${path}`);
    // The reference has the beginning of the list in place of the part.
    if ((isLeaf(right) || isLeaf(got)) && isOfOtherPart(path)) return;
    if (got === null || got === undefined) {
      if (right === null || right === undefined) return checkError(path);
      if (isLost(path) || places.get(path)?.mayStand || isPartOfLost(path)) return;
      // The cursor of an item that only a service that ignores windows sends.
      if (typeof right === 'string' && isMerged(path)) return;
      // Its whole list in place of another part is longer than its total says.
      if (typeof right === 'number' && isMerged(path) && coordinateOf(path).endsWith('.totalCount')) return;
      if (isDenied(reference, path) || isDenied(reference, path, wasSent) || isKnownAbsent(path)) return;
      return report('lost without an error', path, `null at ${path || 'the root'}, right is ${short(right)}`);
    }
    if (right === null || right === undefined) {
      if (rightErrors.get(path) === 'TIER_REQUIRED' && (isTold(coordinateOf(path)) || isShownElsewhere(path))) return;
      // Public data may come from the cache, whatever the token.
      if (rightErrors.get(path) === 'UNAUTHENTICATED') return;
      const place = places.get(path);
      if (place?.accepts?.(got)) return;
      // The total beside another window, or of a whole list that was sent in place of a part.
      if (typeof got === 'number' && (isMerged(path) || (ignoresWindows && coordinateOf(path).endsWith('.totalCount'))))
        return;
      const why = rightErrors.get(path) ?? belowOf(rightErrors, path);
      return report('shown where it is not', path, `${short(got)} at ${path}, right is null${why ? ` by ${why}` : ''}`);
    }
    if (Array.isArray(right)) {
      if (!Array.isArray(got)) return report('wrong value', path, `${short(got)} at ${path}, right is ${short(right)}`);
      if (right.length !== got.length && (isMerged(path) || isOfOtherPart(path))) return;
      if (right.length !== got.length)
        return report(
          'wrong length',
          path,
          `${got.length} items at ${path}, right are ${right.length}: ${short(right)}`,
        );
      return right.forEach((item, at) => walk(item, got[at], under(path, at)));
    }
    if (typeof right === 'object') {
      if (typeof got !== 'object' || Array.isArray(got)) return report('wrong value', path, `${short(got)} at ${path}`);
      for (const [key, value] of Object.entries(right)) {
        const at = under(path, key);
        if (!(key in got)) {
          if (!isPartOfLost(at)) report('missing', at, `nothing at ${at}, right is ${short(value)}`);
        } else walk(value, (got as Record<string, unknown>)[key], at);
      }
      for (const key of Object.keys(got))
        if (!(key in right)) report('too much', under(path, key), `at ${under(path, key)}`);
      return;
    }
    if (right === got) return;
    if (places.get(path)?.accepts?.(got)) return;
    // A part of a longer list shows whether more follows.
    if (typeof got === 'boolean' && isMerged(path)) return;
    report('wrong value', path, `${short(got)} at ${path}, right is ${short(right)}`);
  }

  /** Every error of the reference must be reported. */
  function checkError(path: string): void {
    const code = rightErrors.get(path);
    if (code === undefined || errors.has(path)) return;
    if (code === 'TIER_REQUIRED' && refusedPlaces.has(withoutPositions(path))) return;
    if (code === 'BAD_USER_INPUT' && refusedPlaces.has(withoutPositions(path))) return;
    if (code === 'TIER_REQUIRED' && isTold(coordinateOf(path))) return;
    if (isLost(path) || isPartOfLost(path)) return;
    // A remembered absence is served from the cache, whatever the token; below it there is nothing, whatever the tier.
    const place = places.get(path);
    if (code === 'TIER_REQUIRED' && place?.isOfAbsent) return;
    const mayBeRemembered = code === 'UNAUTHENTICATED' || (code === 'TIER_REQUIRED' && place?.isBelowAbsent);
    if (mayBeRemembered && ![...(place?.requests ?? [])].some(wasSent)) return;
    report('error not reported', path, `${code} at ${path}`);
  }

  /** A record that the tier may not read is shown if another place of the response shows it, with what a list tells of it. */
  function isShownElsewhere(path: string): boolean {
    const record = places.get(path)?.record;
    return record !== undefined && [...places].some(([at, place]) => place.record === record && !rightErrors.has(at));
  }

  /** A part of the list that a request for a larger window returned, which is more than the window of a service that ignores it. */
  function isMerged(path: string): boolean {
    if (!ignoresWindows) return false;
    for (let at = parentOf(path); at !== ''; at = parentOf(at)) {
      const requests = places.get(at)?.requests ?? new Set();
      if (requests.size > 0) return ![...requests].some(wasSent);
    }
    return false;
  }

  /**
   * A record that the client named, and that is absent as its own request says, which something below it needed, or an earlier response that
   * the cache remembers, whatever the token.
   */
  function isKnownAbsent(path: string): boolean {
    if (!/^Query\.[a-z]\w*$/.test(places.get(path)?.coordinate ?? '')) return false;
    const below = [...places].filter(([at]) => parentOf(at) === path);
    if (below.some(([, { isBelowAbsent, parentRequest }]) => isBelowAbsent && wasEverSent(parentRequest!))) return true;
    const isRefused = below.some(([at]) => rightErrors.get(at) === 'UNAUTHENTICATED');
    return isRefused && below.every(([, { requests }]) => ![...requests].some(wasSent));
  }

  /**
   * Below a part of a list of which another part was requested, which the service that ignores windows answers with the whole list, or that
   * begins later and is of a cached list: asked for alone, the service would repeat its beginning.
   */
  function isOfOtherPart(path: string): boolean {
    if (!ignoresWindows) return false;
    for (let at = parentOf(path); at !== ''; at = parentOf(at))
      for (const request of places.get(at)?.requests ?? [])
        if (!wasSent(request) && (beginsLater(request) || sentWindowsOf(request).length > 0)) return true;
    return false;
  }

  function isPartOfLost(path: string): boolean {
    return (result.lostParts ?? []).some((part) => part === '' || path === part || path.startsWith(`${part}.`));
  }
}

const beginsLater = (request: string): boolean => /[?&](?:start=[1-9]|start-index=(?!1\b))/.test(request);

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;

const withoutPositions = (path: string): string => path.replace(/\.\d+(?=\.|$)/g, '');

/** The requests for the record at a place, wherever the operation names it, and whether each says that there is none. */
function denialsOf({ places }: Reference, path: string): (readonly [request: string, isAbsent: boolean])[] {
  const record = places.get(path)?.record;
  const isOfRecord = (at: string) => at === path || (record !== undefined && places.get(at)?.record === record);
  return [...places].flatMap(([at, { denials }]) =>
    isOfRecord(at) || isOfRecord(parentOf(at)) ? [...(denials ?? [])] : [],
  );
}

/** A record that the client named, and of which every request says that there is none. */
function isDenied(reference: Reference, path: string, isMade: (request: string) => boolean = () => true): boolean {
  if (!/^Query\.[a-z]\w*$/i.test(reference.places.get(path)?.coordinate ?? '')) return false;
  const denials = denialsOf(reference, path).filter(([request]) => isMade(request));
  return denials.length > 0 && denials.every(([, isAbsent]) => isAbsent);
}

/** Objects that no call shows to exist: each that was made for one says that there is no such record, and there is no error in it. */
export function phantomsIn(
  { reference, faultOf, wasSent, wasEverSent, isPaused }: Expected,
  { data, errors = [], deferredAt = [] }: Shown,
): Violation[] {
  const failed = errors.map(({ path = [] }) => path.join('.'));
  const recordAt = (path: string) => reference.places.get(path)?.record;
  const faulty = errors.filter(({ extensions }) => isFaultCode(String(extensions?.code)));
  const hasFailed = (path: string) =>
    recordAt(path) !== undefined &&
    faulty.some(({ path: at = [] }) => recordAt(parentOf(at.join('.'))) === recordAt(path));
  return [...reference.places.keys()].flatMap((path) => {
    const value = valueAt(data, path);
    if (
      value == null ||
      Array.isArray(value) ||
      failed.some((at) => at === '' || at === path || at.startsWith(`${path}.`))
    )
      return [];
    // The calls of a deferred part come when the object is already shown.
    if (deferredAt.some((at) => at === path || (recordAt(path) !== undefined && recordAt(at) === recordAt(path))))
      return [];
    const { requests, denials = new Map() } = reference.places.get(path)!;
    // The service has it, or had it when the cached response was sent: if it is gone, its values are those that differ.
    if ([...requests].some((request) => wasEverSent(request) && !denials.has(request))) return [];
    if (!isDenied(reference, path, (request) => wasSent(request) && faultOf(request) === undefined)) return [];
    // A reference of which a request failed may be there.
    if (hasFailed(path)) return [];
    // A request for the record, of which something below needs a member, failed, or the service had asked for a pause: nothing is claimed.
    const below = [...reference.places].flatMap(([at, { parentRequest }]) =>
      parentRequest !== undefined && parentOf(at) === path ? [parentRequest] : [],
    );
    if (below.some((request) => (wasSent(request) ? faultOf(request) !== undefined : isPaused))) return [];
    return [{ kind: `a phantom: ${reference.places.get(path)!.coordinate}`, detail: `at ${path}` }];
  });
}

function valueAt(data: unknown, path: string): unknown {
  let value = data;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}

/** What the lists `works` and `photos` contain of a person whose record is withheld from the tier. */
const isTold = (coordinate: string): boolean =>
  ['Celebrity.id', 'Celebrity.sourceId', 'Celebrity.name', 'Celebrity.portrait', 'Celebrity.webUrl'].includes(
    coordinate,
  );

const isFaultCode = (code: string): boolean =>
  code.startsWith('UPSTREAM_') || ['RATE_LIMITED', 'FORBIDDEN', 'UPSTREAM_REFUSED'].includes(code);

function belowOf(errors: ReadonlyMap<string, string>, path: string): string | undefined {
  for (const [at, code] of errors) if (at.startsWith(`${path}.`)) return `${code} at ${at}`;
  return undefined;
}
const parentOf = (path: string): string => (path.includes('.') ? path.slice(0, path.lastIndexOf('.')) : '');
const under = (path: string, key: string | number): string => (path ? `${path}.${key}` : String(key));
const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
};
