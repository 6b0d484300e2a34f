/** The table of settings as readers have it. */
import { type Setting, entries } from './settings.ts';

const sentenceOf = ({ description, must, shown, byDefault }: Setting<unknown>): string =>
  `${description} (${must}). Default: ${shown ?? String(byDefault(false))}`;

/** All settings under the headings of their groups, as in `docs/settings.md`. */
export function settingsMarkdown(): string {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [, row] of entries()) {
    if (row.group !== heading) lines.push(`\n## ${(heading = row.group)}\n`);
    lines.push(`- \`${row.env}\`: ${sentenceOf(row)}`);
  }
  // Addresses and stars are code: they are no links and no emphasis.
  return lines
    .join('\n')
    .trim()
    .replaceAll(/https?:\/\/(?:[^\s,;]*[^\s,;).])?|\*/g, '`$&`');
}
