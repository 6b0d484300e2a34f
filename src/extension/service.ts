/** A service that an embedding program adds: its endpoints, limits, and whose token its calls carry. */
import type { Endpoint } from '../api/endpoint.ts';
import { type AnyRow, type Made, endpointTable } from '../api/endpoint-table.ts';
import type { ErrorTable } from '../api/service-descriptor.ts';
import { httpAddress } from '../config/kinds.ts';
import { unknownOptions } from '../config/read.ts';

/** Whose token its calls carry: nobody's, that of the caller, or one of its own. */
export type TokenRule = 'none' | 'caller' | { readonly own: string };

export interface ServiceFacts<Rows> {
  readonly name: string;
  readonly baseUrl: string;
  readonly endpoints: Rows;
  /** Who may see what it says, unless a row says otherwise. */
  readonly share?: 'public' | 'viewer';
  readonly token?: TokenRule;
  /** By the `code` in the body of an error. Without a table, the status 404 says that there is no such record. */
  readonly errors?: ErrorTable;
  /** A read may ask for some members only, by the parameter `fields`. */
  readonly hasFields?: boolean;
  /** The calls a minute that it takes; with a token of the caller, of each token. */
  readonly callsAMinute?: number;
  /** The most calls at once. */
  readonly concurrency?: number;
}

export interface AddedService<Table = Readonly<Record<string, Endpoint>>> extends Omit<ServiceFacts<Table>, 'share'> {
  readonly token: TokenRule;
  readonly errors: ErrorTable;
}

/** Made by `service`, so that its endpoints are what it says; with the options that there are not. */
const made = new WeakMap<object, readonly string[]>();

const OPTIONS = {
  ...{ name: true, baseUrl: true, endpoints: true, share: true, token: true, errors: true, hasFields: true },
  ...{ callsAMinute: true, concurrency: true },
} satisfies Record<keyof ServiceFacts<unknown>, true>;
/** Those of an endpoint that `extend.d.ts` has. */
const ENDPOINT_OPTIONS = ['key', 'list', 'share', 'freshSeconds'];

/** Declares a service. What is wrong with it is reported when a facade is made with it. */
export function service<Rows extends Readonly<Record<string, AnyRow>>>(
  facts: ServiceFacts<Rows>,
): AddedService<{ readonly [Name in keyof Rows]: Made<Rows[Name]> }> {
  const { name, share = 'viewer', hasFields = false, errors, callsAMinute } = facts;
  const endpoints = endpointTable(
    {
      ...{ service: name, group: name, share, hasFields, paging: 'start' },
      absentBy: errors ? 'code' : 'status',
      isLimited: callsAMinute !== undefined,
    },
    facts.endpoints,
  );
  const declared = Object.freeze({ token: 'none' as const, ...facts, errors: errors ?? {}, endpoints });
  const ofRows = Object.values(facts.endpoints).flatMap(({ method, path, options }) =>
    unknownOptions(options, ENDPOINT_OPTIONS).map((problem) => `${method} ${path}: ${problem}`),
  );
  made.set(declared, [...unknownOptions(facts, Object.keys(OPTIONS)), ...ofRows]);
  return declared;
}

/** The names of what is counted by service already. */
const TAKEN = ['catalog', 'events', 'redis', 'resolvers'];

/** What is wrong with the option `services`. */
export function serviceProblems(services: unknown): string[] {
  if (!Array.isArray(services)) return ['services must be a list of what service() returns'];
  const names = services.map((each: { name?: unknown } | null) => each?.name);
  return services.flatMap((each: unknown, at) => {
    if (typeof each !== 'object' || each === null || !made.has(each))
      return [`services[${at}] must be what service() of catalog-graphql/extend returns`];
    const problems = [...problemsOf(each as AddedService), ...made.get(each)!];
    if (names.indexOf(names[at]) !== at) problems.push('its name is that of another one');
    return problems.map((problem) => `the service ${String(names[at])}: ${problem}`);
  });
}

function problemsOf({ name, baseUrl, token, callsAMinute, concurrency, endpoints }: AddedService): string[] {
  const problems: string[] = [];
  if (!/^[a-z][a-z\d-]{0,30}$/.test(name)) problems.push('its name must be of small letters, digits and -');
  if (TAKEN.includes(name)) problems.push(`its name must not be ${TAKEN.join(', ')}`);
  if (typeof baseUrl !== 'string' || httpAddress.read(baseUrl) === undefined)
    problems.push(`baseUrl must be ${httpAddress.must}`);
  if (token !== 'none' && token !== 'caller' && !isToken((token as { own?: unknown } | null)?.own))
    problems.push("token must be 'none', 'caller' or { own: a bearer token }");
  for (const [limit, value] of Object.entries({ callsAMinute, concurrency }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      problems.push(`${limit} must be a whole number from 1`);
  for (const { method, path, media, share } of Object.values(endpoints)) {
    if (method !== 'GET' || media !== 'json') problems.push(`${method} ${path} must be a read of JSON: GET`);
    if (!/^\/[^?#\s]*$/.test(path))
      problems.push(`${method} ${path} must have a path that begins with /, without query or fragment`);
    if (share !== 'public' && share !== 'viewer') problems.push(`share of ${path} must be public or viewer`);
    // What the token of one caller has read would be shown to others.
    if (share === 'public' && token === 'caller')
      problems.push(`share of ${path} must be viewer, because its calls carry the token of the caller`);
  }
  return problems;
}

const isToken = (token: unknown): boolean => typeof token === 'string' && /^[\x21-\x7e]{1,4096}$/.test(token);
