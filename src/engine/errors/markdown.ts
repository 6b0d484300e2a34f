import { codeGroups, columnsOf } from './codes.ts';

/** A text with the numbers that it names. */
export const withNumbers = (text: string, numbers: Readonly<Record<string, number>>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => numbers[name]!.toLocaleString('en'));

/** The table of errors as Markdown, for `docs/errors.md`. `numbers`: those that notes name. */
export function errorsMarkdown(numbers: Readonly<Record<string, number>>): string {
  const sections = codeGroups.map(({ title, codes }) => {
    const each = Object.entries(codes).map(
      ([code, { what, client, operator, ...columns }]) =>
        `### ${code}\n\n${what}\n\n- Client: ${client}${operator ? `\n- Operator: ${withNumbers(operator, numbers)}` : ''}` +
        columnsOf(columns)
          .map(([name, text]) => `\n- ${name}: ${text}`)
          .join(''),
    );
    return [`## ${title}`, ...each].join('\n\n');
  });
  return [
    '<!-- Printed by "npm run codegen" from src/engine/errors/codes.ts; not edited by hand. -->',
    '# Errors',
    'An absent value is `null` without an error. A rejected or failed value is `null` with an error that has its path; the rest of the response is complete. HTTP 294 for `application/graphql-response+json` says that a response has such errors, 200 for other types. With `HTTP_STATUSES=2025` it is 200 for all, and 422 is 400.',
    [
      '- `extensions.code` is what a client branches on.',
      '- `extensions.coordinate` is the field of the schema.',
      '- `extensions.help` is the link to the code on this page, which the facade serves at `/docs/errors`: absolute where the facade knows its address (`HELP_URL`, `MCP_URL`, or a loopback address outside production), else relative to that of the request.',
      '- `extensions.upstream` (`service`, `status`, `code`, `message`, `request`) describes the response of the service, if it was called.',
      '- `extensions.stale` of the response lists records that were served from the cache because the service failed, and their age.',
      '- `extensions.age` lists cached records that the client asked to have anew (`Cache-Control: no-cache`) and that were not read, and their age.',
      '- `extensions.replicasMayLag` of a mutation is true if Redis did not take note of it yet: other replicas may show the state before it for a while.',
    ].join('\n'),
    ...sections,
  ].join('\n\n');
}
