/** The header Accept. */

export interface MediaRange {
  /** In lower case, without parameters. */
  type: string;
  /** Parameters other than `q`, in lower case and without blanks. */
  params: readonly string[];
  /** From 0, not acceptable, to 1. */
  quality: number;
}

/** The ranges of an Accept header in its order. A missing or empty header accepts everything. */
export function parseAccept(accept = ''): MediaRange[] {
  const ranges = accept.replaceAll(/\s/g, '').toLowerCase().split(',').filter(Boolean);
  return (ranges.length > 0 ? ranges : ['*/*']).map((range) => {
    const [type = '', ...params] = range.split(';');
    const quality = params.find((param) => param.startsWith('q='));
    return {
      type,
      params: params.filter((param) => !param.startsWith('q=')),
      quality: quality === undefined ? 1 : (qualityOf(quality.slice(2)) ?? 1),
    };
  });
}

/** Tolerates `.2`, as Java's HttpURLConnection sends it, and more than three digits. */
const qualityOf = (text: string): number | undefined =>
  /^(?:0?\.\d+|0\.?|1(?:\.0*)?)$/.test(text) ? Number(text) : undefined;

/** How specifically a range matches a type: 2 exactly, 1 by `type/*`, 0 by `*\/*`; undefined if it does not. */
export function specificity(range: string, type: string): number | undefined {
  if (range === type) return 2;
  if (isWildcard(range)) return 0;
  return range === `${type.slice(0, type.indexOf('/'))}/*` ? 1 : undefined;
}

/** `*` is Java's. */
export const isWildcard = (range: string): boolean => range === '*/*' || range === '*';
