/** What services refuse of the operator's own token or key: that concerns all who send no token of theirs, and only the operator can change it. */
import type { Endpoint } from '../../api/endpoint.ts';
import { type Service, type UpstreamErrorDetails, isTokenRejection } from '../errors.ts';

/** Called when a service refuses it, and without a code or status when it accepts it again. */
export type OnOwnRefused = (service: Service, reason: number | undefined, hasToken: boolean) => void;

/** Whether a response to a call without a caller's token refuses the operator's token or key. */
export const refusesOwn = (details: UpstreamErrorDetails, hasToken: boolean): boolean =>
  details.row?.means === 'key' ||
  (hasToken && isTokenRejection(details) && (details.row?.means ?? 'token') === 'token');

export type OwnRefusals = ReturnType<typeof createOwnRefusals>;

export function createOwnRefusals(onChange: OnOwnRefused = () => undefined) {
  /** The groups of endpoints that refuse it: a service may ask for a token for some alone. */
  const refusing = new Map<Endpoint['group'], Service>();
  const has = (service: Service): boolean => [...refusing.values()].includes(service);
  return {
    has,
    add({ group, service }: Endpoint, { code, status }: UpstreamErrorDetails, hasToken: boolean): void {
      const isKnown = has(service);
      refusing.set(group, service);
      if (!isKnown) onChange(service, code ?? status, hasToken);
    },
    /** The service took a call of the group. */
    end({ group, service }: Endpoint): void {
      if (refusing.size > 0 && refusing.delete(group) && !has(service)) onChange(service, undefined, true);
    },
    /** There is another token. */
    clear: (): void => refusing.clear(),
  };
}
