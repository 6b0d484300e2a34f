/** A rule that an input violates, as in `extensions.violations` of an error. */
export interface Violation {
  code: string;
  /** Where in the arguments: `['input', 'content']`, `['input', 'pictures', 0, 'file']`. */
  path: readonly (string | number)[];
  message: string;
}

/** What to show at the fields of a form: messages by the path of the field in the input, such as `pictures.0.file`. */
export function fieldErrors(
  errors: readonly { extensions?: Readonly<Record<string, unknown>> | undefined }[],
): Record<string, string> {
  const violations = errors.flatMap(({ extensions }) => (extensions?.violations ?? []) as readonly Violation[]);
  return Object.fromEntries(violations.map(({ path, message }) => [path.join('.').replace(/^input\./, ''), message]));
}
