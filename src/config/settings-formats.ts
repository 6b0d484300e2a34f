/** The table of settings as other programs and readers have it. */
import { entries } from './settings.ts';

/** All settings under the headings of their groups, as in `docs/settings.md`. */
export function settingsMarkdown(): string {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [, { env, byDefault, description, shown, must, group }] of entries()) {
    if (group !== heading) lines.push(`\n## ${(heading = group)}\n`);
    lines.push(`- \`${env}\`: ${description} (${must}). Default: ${shown ?? String(byDefault(false))}`);
  }
  // Addresses and stars are code: they are no links and no emphasis.
  return lines
    .join('\n')
    .replaceAll(/https?:\/\/[^\s,;]*|\*/g, '`$&`')
    .trim();
}
