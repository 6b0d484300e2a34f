/** The table of settings as readers and other programs have it. */
import { type Setting, entries } from './settings.ts';

export const settingsFormats = {
  markdown: settingsMarkdown,
  env: settingsEnv,
  'json-schema': () => JSON.stringify(settingsJsonSchema(), null, 2),
} satisfies Record<string, () => string>;

/** The default as texts have it. */
const defaultOf = ({ shown, byDefault }: Setting<unknown>): string => shown ?? String(byDefault(false));

/** All settings under the headings of their groups, as in `docs/settings.md`. */
export function settingsMarkdown(): string {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [, row] of entries()) {
    const { env, description, must, group } = row;
    if (group !== heading) lines.push(`\n## ${(heading = group)}\n`);
    lines.push(`- \`${env}\`: ${description} (${must}). Default: ${defaultOf(row)}`);
  }
  // Addresses and stars are code: they are no links and no emphasis.
  return lines
    .join('\n')
    .replaceAll(/https?:\/\/[^\s,;]*|\*/g, '`$&`')
    .trim();
}

/** A file of variables. All are comments: with none of them uncommented it changes nothing. */
function settingsEnv(): string {
  const lines: string[] = [];
  let heading: string | undefined;
  for (const [, row] of entries()) {
    const { env, description, must, group } = row;
    if (group !== heading) lines.push(`\n## ${(heading = group)}\n`);
    lines.push(`# ${description} (${must}). Default: ${defaultOf(row)}`, `# ${env}=${spelledDefault(row) ?? ''}`);
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
  const { description, must, schema = { type: 'string' }, isSecret } = row;
  const value = spelledDefault(row);
  return {
    description: `${description} (${must}). Default: ${defaultOf(row)}`,
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
