export { type Advice, type ErrorCode, type Retry, adviceByCode, retryByCode } from './error-codes.ts';

/** A rule that an input violates, as in `extensions.violations` of an error. */
export interface Violation {
  code: string;
  /** Where in the arguments: `['input', 'content']`, `['input', 'pictures', 0, 'file']`. */
  path: readonly (string | number)[];
  message: string;
}

type Errors = readonly { extensions?: Readonly<Record<string, unknown>> | undefined }[];

/**
 * What to show at the inputs of a form: messages by the path in the input of the mutation, such as `tags.0`, and by each place above it
 * (`tags`), because a form often has one input for a list.
 */
export function fieldErrors(errors: Errors): Record<string, string> {
  const messages = new Map<string, Set<string>>();
  for (const { extensions } of errors)
    for (const { path, message } of (extensions?.violations ?? []) as readonly Violation[]) {
      const [root, ...rest] = path;
      const place = root === 'input' && rest.length > 0 ? rest : path;
      for (let length = place.length; length > 0; length--) {
        const name = place.slice(0, length).join('.');
        messages.set(name, (messages.get(name) ?? new Set()).add(message));
      }
    }
  return Object.fromEntries([...messages].map(([name, texts]) => [name, [...texts].join(' ')]));
}

/** The page about the code of an error, at the facade; `endpoint` is the address of the facade. Undefined for errors of others. */
export function helpUrl(
  { extensions }: { extensions?: Readonly<Record<string, unknown>> | undefined },
  endpoint: string | URL,
): string | undefined {
  const help = extensions?.help;
  return typeof help === 'string' ? new URL(help, endpoint).href : undefined;
}
