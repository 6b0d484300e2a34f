/** The table of settings as readers and other programs have it. */
import { type Setting, entries } from './settings.ts';

export const settingsFormats = {
  markdown: settingsMarkdown,
  env: settingsEnv,
  'json-schema': () => JSON.stringify(settingsJsonSchema(), null, 2),
} satisfies Record<string, () => string>;

const sentenceOf = ({ description, must, shown, byDefault }: Setting<unknown>): string =>
  `${description} (${must}). Default: ${shown ?? String(byDefault(false))}`;

/** All settings under the headings of their groups, as in `docs/settings.md`. */
export function settingsMarkdown(): string {
  // Addresses and stars are code: they are no links and no emphasis.
  return underHeadings((row) => `- \`${row.env}\`: ${sentenceOf(row)}`).replaceAll(
    /https?:\/\/(?:[^\s,;]*[^\s,;).])?|\*/g,
    '`$&`',
  );
}

/** A file of variables. All are comments: with none of them uncommented it changes nothing. */
function settingsEnv(): string {
  return underHeadings((row) => `# ${sentenceOf(row)}\n# ${row.env}=${spelledDefault(row) ?? ''}`);
}

function underHeadings(textOf: (row: Setting<unknown>) => string): string {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [, row] of entries()) {
    if (row.group !== heading) lines.push(`\n## ${(heading = row.group)}\n`);
    lines.push(textOf(row));
  }
  return lines.join('\n').trim();
}

/** A schema of the environment, or of the part of it that a ConfigMap or an env file has. Other variables are allowed. */
function settingsJsonSchema(): object {
  const rows = entries();
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of catalog-graphql, as environment variables',
    type: 'object',
    properties: Object.fromEntries(rows.map(([, row]) => [row.env, propertyOf(row)])),
    dependentRequired: { BASE_URL: ['EVENT_BASE_URL'], EVENT_BASE_URL: ['BASE_URL'] },
    allOf: rows
      .map(([, { env }]) => env)
      .filter((env, _, all) => all.includes(`${env}_FILE`))
      .map((env) => ({ not: { required: [env, `${env}_FILE`] } })),
  };
}

function propertyOf(row: Setting<unknown>): object {
  const { schema = { type: 'string' }, isSecret } = row;
  const value = spelledDefault(row);
  return {
    description: sentenceOf(row),
    // An empty variable is an absent one.
    anyOf: [schema, { const: '' }],
    ...(value !== undefined && { default: value }),
    ...(isSecret && { writeOnly: true }),
  };
}

/** The default as the environment spells it; undefined without one, or where it depends on other settings. */
function spelledDefault({ byDefault, shown, spell }: Setting<unknown>): string | undefined {
  const value = byDefault(false);
  if (value === undefined || value !== byDefault(true)) return undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return shown === undefined ? spell(value) : undefined;
}
