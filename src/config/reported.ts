/**
 * `LIMITS=report` and `PERSISTED_ONLY=report`: what they would reject is run, so that it can be counted before it is rejected. The settings
 * in use are then those of a server that does not reject it, and what would be in force stands beside them.
 */

/** Limits of what an operation asks for. Those of what is received and sent protect the process, and are always in force. */
const limits = [
  'maxDocumentCharacters',
  'maxTokens',
  'maxNesting',
  'maxDepth',
  'maxFields',
  'maxPlannedFields',
  'maxFragments',
  'maxAliases',
  'maxRootFields',
  'maxMutations',
  'maxDirectives',
  'maxUpstreamCalls',
  'possibleCallsFactor',
  'maxItems',
  'maxValues',
] as const;

type ReportedLimits = Readonly<Record<(typeof limits)[number], number>>;

export interface Reported {
  /** Undefined if they are in force. */
  limits: ReportedLimits | undefined;
  /** Documents that are not in the manifest. */
  untrusted: boolean;
}

interface InUse {
  persistedOnly: boolean;
  /** Undefined if nothing is only reported. */
  reported: Reported | undefined;
}

/** No document may take long to check, or overflow the stack, so limits that are only reported still end somewhere. */
const FACTOR = 10;
const levels: ReadonlyMap<string, number> = new Map([
  ['maxNesting', 1_000],
  ['maxDepth', 500],
]);

/** The settings in use. */
export function withReported<
  Given extends ReportedLimits & { limits: 'on' | 'report'; persistedOnly: boolean | 'report' },
>(given: Given): Omit<Given, 'persistedOnly'> & InUse {
  const persistedOnly = given.persistedOnly === true;
  const untrusted = given.persistedOnly === 'report';
  if (given.limits === 'on')
    return { ...given, persistedOnly, reported: untrusted ? { limits: undefined, untrusted } : undefined };
  const own = Object.fromEntries(limits.map((name) => [name, given[name]])) as ReportedLimits;
  const raised = Object.fromEntries(
    limits.map((name) => [name, Math.min(given[name] * FACTOR, levels.get(name) ?? Infinity)]),
  );
  return {
    ...given,
    ...raised,
    possibleCallsFactor: given.possibleCallsFactor,
    persistedOnly,
    reported: { limits: own, untrusted },
  };
}
