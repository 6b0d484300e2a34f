/** What reads came to, and what they show of the film tier of a token. */
import { type Tier, tiers } from '../api/endpoint.ts';
import { serviceError } from '../api/errors.ts';
import { isTokenRejection } from '../upstream/errors.ts';
import type { ServiceRead } from './service-reader.ts';

export const isSuccess = ({ value }: ServiceRead): boolean => value !== undefined;
/** No answer, or one that is not the service's. */
export const isBroken = ({ status = 0, problem }: ServiceRead): boolean => problem !== undefined || status >= 500;
export const isRejected = (read: ServiceRead): boolean => read.problem === undefined && read.value === undefined;

/** The film tiers that the token may have, as far as reads show. */
export function tiersSeen(reads: readonly ServiceRead[]): readonly Tier[] {
  const films = reads.filter(({ endpoint }) => endpoint.isTiered);
  const denied = films.filter((read) => {
    const details = { service: 'catalog', request: '', ...read, row: serviceError(read.code) } as const;
    return isRejected(read) && !isTokenRejection(details) && read.status === 403;
  });
  return tiers.filter(
    (tier) =>
      films.filter(isSuccess).every(({ endpoint }) => endpoint.tiers.includes(tier)) &&
      denied.every(({ endpoint }) => !endpoint.tiers.includes(tier)),
  );
}
