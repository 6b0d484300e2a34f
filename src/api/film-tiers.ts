/** The tiers of the film interface: what each gets, by the columns of its endpoints. */
import { type Endpoint, type Tier, tiers } from './endpoint.ts';
import type { GatedRecord } from './record-source.ts';
import type { TierPolicy } from './service-descriptor.ts';

/** Without a token everybody is basic. */
const withoutToken: readonly Tier[] = Object.freeze(['basic']);
const none: readonly string[] = Object.freeze([]);

export const filmTiers: TierPolicy = {
  possible: (hasToken) => (hasToken ? tiers : withoutToken),
  provenBy,
  evidence,
  withheld,
};

/** An absent member proves nothing. */
function provenBy(endpoint: Endpoint, response: object | 'refused'): readonly Tier[] {
  if (response === 'refused') return tiers.filter((tier) => !endpoint.tiers.includes(tier));
  let having = endpoint.tiers;
  const members = endpoint.gates?.members;
  if (members)
    for (const member in members)
      if ((response as Record<string, unknown>)[member] !== undefined)
        having = having.filter((tier) => members[member]!.includes(tier));
  return having;
}

function evidence(
  { endpoint, tiers: having }: GatedRecord,
  members: readonly string[],
  possible: readonly Tier[],
  isLimitUncertain = false,
): readonly string[] {
  const found = having && endpoint.gates?.rarelyEmpty;
  if (!found || isLimitUncertain) return found ?? none;
  const answering = possible.filter((tier) => endpoint.tiers.includes(tier));
  const isOpen = (member: string) => {
    const gets = having[member];
    return gets && answering.some((tier) => gets.includes(tier)) && !answering.every((tier) => gets.includes(tier));
  };
  return members.some(isOpen) ? found : none;
}

/** Upstream also leaves out defaults: while a possible tier includes the member, it is withheld only if no gated member is present, and none of those that are rarely empty. */
function withheld(
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
