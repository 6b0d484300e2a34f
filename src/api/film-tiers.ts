/** The tiers of the film interface: what each gets, by the columns of its endpoints. */
import { type Endpoint, type Tier, tiers } from './endpoint.ts';
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
  { gates, tiers: ofRecord }: Endpoint,
  members: readonly string[],
  possible: readonly Tier[],
  isLimitUncertain = false,
): readonly string[] {
  if (!gates) return none;
  if (isLimitUncertain) return gates.rarelyEmpty;
  const answering = possible.filter((tier) => ofRecord.includes(tier));
  const isOpen = (member: string) => {
    const gets = gates.members[member];
    return gets && answering.some((tier) => gets.includes(tier)) && !answering.every((tier) => gets.includes(tier));
  };
  return members.some(isOpen) ? gates.rarelyEmpty : none;
}

/** Upstream also leaves out defaults: while a possible tier includes the member, it is withheld only if no gated member is present, and none of those that are rarely empty. */
function withheld(
  { gates, tiers: ofRecord }: Endpoint,
  record: Readonly<Record<string, unknown>>,
  members: readonly string[],
  possible: readonly Tier[],
): readonly string[] {
  if (!gates) return none;
  const { members: having, rarelyEmpty } = gates;
  /** Some tier may read the record without the member. */
  const isGated = (member: string) => ofRecord.some((tier) => !(having[member] ?? tiers).includes(tier));
  const absent = members.filter((member) => record[member] === undefined && isGated(member));
  if (absent.length === 0) return none;
  let answered = possible.filter((tier) => ofRecord.includes(tier));
  for (const member in record)
    if (record[member] !== undefined && Object.hasOwn(having, member))
      answered = answered.filter((tier) => having[member]!.includes(tier));
  const isWithheld = (from: readonly Tier[]) => (member: string) =>
    from.every((tier) => !having[member]!.includes(tier));
  if (answered.length > 1 && rarelyEmpty.every((member) => absent.includes(member)))
    answered = answered.filter((tier) => rarelyEmpty.every((member) => !having[member]?.includes(tier)));
  // None left: the record has more than any possible tier includes, so the known tier is wrong.
  return answered.length > 0 ? absent.filter(isWithheld(answered)) : none;
}
