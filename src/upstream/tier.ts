/** What upstream's answers and refusals tell of the film tier of a credential, and what they do not. */
import { type Endpoint, type Tier, tiers } from '../contract/endpoint.ts';
import { celebrityMembers, filmEndpoints, subjectMembers } from '../contract/film.ts';
import { type Credential, likelyTiers } from './credential.ts';
import { RecordRefused, TierRequired, type UpstreamRefusal } from './refusal.ts';

/** How long a refusal of an endpoint is remembered, in ms. */
const REFUSAL_MS = 60_000;

/** So many records refused, and none answered for, show that the tier does not get the endpoint. */
const REFUSED_RECORDS = 3;

const NEED_PERMISSION = 1000;

/** A film endpoint answered: the credential is of a tier that has it, and gets the members that came. An absent member tells nothing. */
export function learnFromAnswer(credential: Credential, endpoint: Endpoint, value: unknown): void {
  if (endpoint.share !== 'tier') return;
  credential.refused.delete(endpoint.path);
  credential.refusedRecords.delete(endpoint);
  let having = endpoint.tiers;
  const members = gatedMembers.get(endpoint);
  if (members && typeof value === 'object' && value !== null)
    for (const [name, tiers] of members)
      if ((value as Record<string, unknown>)[name] !== undefined) having = both(having, tiers);
  learn(credential, having);
}

/**
 * What to tell of a refusal. That of one record is not that of its endpoint: only where the credential is known to be of a tier that does
 * not get the endpoint is the tier the reason, and is the endpoint left alone for a while.
 */
export function learnFromRefusal(credential: Credential, endpoint: Endpoint, refusal: UpstreamRefusal): Error {
  const { word } = refusal;
  if (endpoint.share !== 'tier' || endpoint.tiers.length === tiers.length || word.code !== NEED_PERMISSION)
    return refusal;
  const lacking = tiers.filter((tier) => !endpoint.tiers.includes(tier));
  if (provesTier(credential, endpoint, word.request)) learn(credential, lacking);
  const tierRequired = new TierRequired(endpoint.tiers, endpoint.path, true);
  if (credential.possibleTiers.every((tier) => lacking.includes(tier))) {
    credential.refused.set(endpoint.path, performance.now() + REFUSAL_MS);
    return tierRequired;
  }
  // A list of a record that is there is refused for the tier, as far as is known.
  const likely = credential.isOwn || !endpoint.list ? [] : likelyTiers(credential);
  return likely.length > 0 && likely.every((tier) => lacking.includes(tier)) ? tierRequired : new RecordRefused(word);
}

/** A chart has no records of its own. The facade's own credential is everybody's: no choice of records closes an endpoint to all. */
function provesTier(
  { isOwn, refusedRecords, possibleTiers }: Credential,
  endpoint: Endpoint,
  request: string,
): boolean {
  if (endpoint.params.length === 0) return true;
  if (isOwn || possibleTiers.every((tier) => endpoint.tiers.includes(tier))) return false;
  let records = refusedRecords.get(endpoint);
  if (!records) refusedRecords.set(endpoint, (records = new Set()));
  records.add(request);
  return records.size >= REFUSED_RECORDS;
}

/** What contradicts what was known is newer: the tier was changed. */
function learn(credential: Credential, having: readonly Tier[]): void {
  if (credential.isTierFixed || having.length === 0 || having.length === tiers.length) return;
  const left = both(credential.possibleTiers, having);
  if (left.length === credential.possibleTiers.length) return;
  if (left.length === 0) credential.refused.clear();
  credential.possibleTiers = left.length > 0 ? left : having;
}

const both = (some: readonly Tier[], others: readonly Tier[]): readonly Tier[] =>
  some === others ? some : some.filter((tier) => others.includes(tier));

type Members = readonly (readonly [name: string, tiers: readonly Tier[]])[];

/** Members of a record that not every tier with the record gets. */
const gatedOf = (
  endpoint: Endpoint,
  members: Readonly<Record<string, readonly Tier[]>>,
): readonly [Endpoint, Members] => [
  endpoint,
  Object.entries(members).filter(([, having]) => endpoint.tiers.some((tier) => !having.includes(tier))),
];
const gatedMembers: ReadonlyMap<Endpoint, Members> = new Map([
  gatedOf(filmEndpoints.subject, subjectMembers),
  gatedOf(filmEndpoints.celebrity, celebrityMembers),
]);

/** A few bytes that tell a basic tier from the others, asked for beside what is wanted when it has become worth knowing. */
const TELLING = ['durations', 'languages'];

/** The names to ask for beside these, where the answer would tell whether the credential is limited. */
export function tellingNames(credential: Credential, endpoint: Endpoint, fields: string): readonly string[] {
  const { isOwn, possibleTiers } = credential;
  if (isOwn || endpoint !== filmEndpoints.subject || possibleTiers.length === 1 || !possibleTiers.includes('basic'))
    return [];
  const names = fields.split(',');
  return TELLING.filter((name) => !names.includes(name));
}

/** What it takes to tell why a member of a record is absent. */
interface GatedRecord {
  readonly ask: Endpoint;
  readonly tiers?: Readonly<Record<string, readonly Tier[]>>;
}

/** Members that nearly every film or person has, and the basic tier does not get. */
const rarelyEmpty: ReadonlyMap<Endpoint, readonly string[]> = new Map<Endpoint, readonly string[]>([
  [filmEndpoints.subject, ['durations', 'languages', 'photos', 'pubdates']],
  [filmEndpoints.celebrity, ['photos', 'professions', 'summary']],
]);
/** So many of them absent, and no member of their kind present, are the work of the tier. */
const ABSENT = 3;

const none: readonly string[] = Object.freeze([]);

/**
 * The names of these that are absent because the caller's tier does not get them. Upstream leaves out defaults too: where a possible tier
 * gets the member, its absence says nothing by itself.
 */
export function withheld(
  { ask, tiers: having }: GatedRecord,
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
  possible: readonly Tier[],
): readonly string[] {
  const absent = having && names.filter((name) => record[name] === undefined && isGated(ask, having[name]));
  if (!having || !absent || absent.length === 0) return none;
  let answered = possible.filter((tier) => ask.tiers.includes(tier));
  for (const name in record)
    if (record[name] !== undefined && having[name]) answered = answered.filter((tier) => having[name]!.includes(tier));
  const isWithheld = (from: readonly Tier[]) => (name: string) => from.every((tier) => !having[name]!.includes(tier));
  if (answered.length === 0) return none; // it got more than its tier does: that is not what was supposed
  const telling = rarelyEmpty.get(ask) ?? none;
  if (answered.length > 1 && telling.filter((name) => absent.includes(name)).length >= ABSENT)
    answered = answered.filter((tier) => telling.every((name) => !having[name]?.includes(tier)));
  return answered.length > 0 ? absent.filter(isWithheld(answered)) : none;
}

/** Not every tier that gets the record gets the member. */
const isGated = ({ tiers: ofRecord }: Endpoint, having: readonly Tier[] | undefined): boolean =>
  having !== undefined && having.length < tiers.length && ofRecord.some((tier) => !having.includes(tier));
