/** Infers the film tier of a credential from responses and rejections of upstream. */
import { type Endpoint, type Tier, tiers } from '../../api/endpoint.ts';
import type { GatedRecord } from '../../api/record-source.ts';
import { type Credential, likelyTiers } from './credentials.ts';
import { RecordRejected, TierRequired, type UpstreamRejection } from '../errors.ts';

/** How long the rejection of an endpoint is remembered, in ms. */
const REFUSAL_MS = 60_000;

/** This many rejected records without a successful one prove that the tier may not call the endpoint. */
const REFUSED_RECORDS = 3;

/** The credential has a tier that includes the endpoint and the present members. An absent member proves nothing. */
export function learnFromResponse(credential: Credential, endpoint: Endpoint, value: unknown): void {
  if (!endpoint.isTiered) return;
  credential.refusedEndpoints.delete(endpoint.path);
  credential.refusedRecords.delete(endpoint);
  let having = endpoint.tiers;
  const members = endpoint.gates?.members;
  if (members)
    for (const member in members)
      if ((value as Record<string, unknown>)[member] !== undefined) having = both(having, members[member]!);
  learn(credential, having);
}

/**
 * Returns the error to report for a rejection. One rejected record does not prove that the endpoint is rejected. Only if the credential is
 * known to have a tier without the endpoint, the error is TierRequired, and the endpoint is not called for a while.
 */
export function learnFromRejection(credential: Credential, endpoint: Endpoint, rejection: UpstreamRejection): Error {
  const { details } = rejection;
  if (endpoint.tiers.length === tiers.length || details.row?.means !== 'permission') return rejection;
  const lacking = tiers.filter((tier) => !endpoint.tiers.includes(tier));
  if (provesTier(credential, endpoint, details.request)) learn(credential, lacking);
  const tierRequired = new TierRequired(endpoint.tiers, endpoint.path, true);
  if (credential.possibleTiers.every((tier) => lacking.includes(tier))) {
    credential.refusedEndpoints.set(endpoint.path, performance.now() + REFUSAL_MS);
    return tierRequired;
  }
  // If a list is rejected although its record exists, the likely reason is the tier.
  const likely = credential.isOwn || !endpoint.list ? [] : likelyTiers(credential);
  if (likely.length > 0 && likely.every((tier) => lacking.includes(tier))) return tierRequired;
  return new RecordRejected(
    details,
    credential.possibleTiers.some((tier) => lacking.includes(tier)),
  );
}

/** A rejected chart is proof, because it has no single records. Rejected records prove nothing for the facade's own credential. */
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

/** If findings contradict, the new one wins: the tier was changed. */
function learn(credential: Credential, having: readonly Tier[]): void {
  if (credential.isTierFixed || having.length === 0 || having.length === tiers.length) return;
  const left = both(credential.possibleTiers, having);
  if (left.length === credential.possibleTiers.length) return;
  if (left.length === 0) credential.refusedEndpoints.clear();
  credential.possibleTiers = left.length > 0 ? left : having;
}

const both = (some: readonly Tier[], others: readonly Tier[]): readonly Tier[] =>
  some === others ? some : some.filter((tier) => others.includes(tier));

const none: readonly string[] = Object.freeze([]);

/**
 * Members to request besides `members`: if they are all absent too, the tier withholds an absent member. None if the tier is known.
 * `isLimitUncertain`: they are needed for any `members`, because they also show whether the credential has a rate limit.
 */
export function tierEvidenceMembers(
  { endpoint, tiers: having }: GatedRecord,
  members: readonly string[],
  possible: readonly Tier[],
  isLimitUncertain = false,
): readonly string[] {
  const evidence = having && endpoint.gates?.rarelyEmpty;
  if (!evidence || isLimitUncertain) return evidence ?? none;
  const answering = possible.filter((tier) => endpoint.tiers.includes(tier));
  const isOpen = (member: string) => {
    const gets = having[member];
    return gets && answering.some((tier) => gets.includes(tier)) && !answering.every((tier) => gets.includes(tier));
  };
  return members.some(isOpen) ? evidence : none;
}

/**
 * Returns those of `members`, which were all requested, that are absent because of the caller's tier. Upstream also leaves out defaults: while
 * a possible tier includes the member, it is withheld only if no gated member is present, and none of those that are rarely empty.
 */
export function membersWithheldByTier(
  { endpoint, tiers: having }: GatedRecord,
  record: Readonly<Record<string, unknown>>,
  members: readonly string[],
  possible: readonly Tier[],
): readonly string[] {
  const absent =
    having && members.filter((member) => record[member] === undefined && isGated(endpoint, having[member]));
  if (!having || !absent || absent.length === 0) return none;
  let answered = possible.filter((tier) => endpoint.tiers.includes(tier));
  for (const member in record)
    if (record[member] !== undefined && Object.hasOwn(having, member))
      answered = answered.filter((tier) => having[member]!.includes(tier));
  const isWithheld = (from: readonly Tier[]) => (member: string) =>
    from.every((tier) => !having[member]!.includes(tier));
  const evidence = endpoint.gates?.rarelyEmpty;
  if (answered.length > 1 && evidence?.every((member) => absent.includes(member)))
    answered = answered.filter((tier) => evidence.every((member) => !having[member]?.includes(tier)));
  // None left: the record has more than any possible tier includes, so the known tier is wrong.
  return answered.length > 0 ? absent.filter(isWithheld(answered)) : none;
}

/** Some tier may read the record without the member. */
const isGated = ({ tiers: ofRecord }: Endpoint, having: readonly Tier[] | undefined): boolean =>
  having !== undefined && having.length < tiers.length && ofRecord.some((tier) => !having.includes(tier));
