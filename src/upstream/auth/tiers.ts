/** Infers the tier of a credential from responses and rejections of upstream. */
import type { Endpoint, Tier } from '../../api/endpoint.ts';
import type { TierPolicy } from '../../api/service-descriptor.ts';
import { type Credential, likelyTiers } from './credentials.ts';
import { RecordRejected, TierRequired, type UpstreamRejection } from '../errors.ts';

/** How long the rejection of an endpoint is remembered, in ms. */
const REFUSAL_MS = 60_000;

/** This many rejected records without a successful one prove that the tier may not call the endpoint. */
const REFUSED_RECORDS = 3;

/** The credential has a tier that gets such a response. */
export function learnFromResponse(policy: TierPolicy, credential: Credential, endpoint: Endpoint, value: object): void {
  credential.refusedEndpoints.delete(endpoint.path);
  credential.refusedRecords.delete(endpoint);
  // A tier that is set is not learned: the members need not be looked through.
  if (!credential.isTierFixed) learn(policy, credential, policy.provenBy(endpoint, value));
}

/**
 * Returns the error to report for a rejection: TierRequired if the likely tier does not get the endpoint. One rejected record does not prove
 * that the endpoint is rejected. Only if the credential is known to have a tier without it, it is not called for a while.
 */
export function learnFromRejection(
  policy: TierPolicy,
  credential: Credential,
  endpoint: Endpoint,
  rejection: UpstreamRejection,
): Error {
  const { details } = rejection;
  const lacking = policy.provenBy(endpoint, 'refused');
  if (lacking.length === 0 || details.row?.means !== 'permission') return rejection;
  if (provesTier(credential, endpoint, details.request)) learn(policy, credential, lacking);
  const tierRequired = new TierRequired(endpoint.tiers, endpoint.path, true);
  if (credential.possibleTiers.every((tier) => lacking.includes(tier))) {
    credential.refusedEndpoints.set(endpoint.path, performance.now() + REFUSAL_MS);
    return tierRequired;
  }
  // One cause has one code: the tier that is shown to the caller from now on is the reason. The facade's own shows none.
  const likely = credential.isOwn ? [] : likelyTiers(credential);
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
function learn({ possible }: TierPolicy, credential: Credential, having: readonly Tier[]): void {
  if (credential.isTierFixed || having.length === 0 || having.length === possible(true).length) return;
  const left = credential.possibleTiers.filter((tier) => having.includes(tier));
  if (left.length === credential.possibleTiers.length) return;
  if (left.length === 0) credential.refusedEndpoints.clear();
  credential.possibleTiers = left.length > 0 ? left : having;
}

/** The policy of a service whose tokens all get the same. */
export const noTiers: TierPolicy = {
  possible: () => [],
  provenBy: () => [],
  evidence: () => [],
  withheld: () => [],
};
