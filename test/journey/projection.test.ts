import { type Server, createServer, request as forward } from 'node:http';
import fc from 'fast-check';
import {
  type DocumentNode,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  TypeInfo,
  getDirectiveValues,
  isObjectType,
  parse,
  print,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { pino } from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { catalogService } from '../../src/graph/service/descriptor.ts';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import { openServer } from '../support/open-server.ts';
import { createUpstream } from '../../src/upstream/client.ts';
import { endpointAt, typeNameOf } from '../support/endpoints.ts';
import type { GraphQLResponse } from '../support/facade.ts';
import { journey } from '../support/journey.ts';
import { thorough } from '../support/optional.ts';
import { type RandomDocument, randomDocument } from '../support/selections.ts';
import { afterUse } from '../support/hooks.ts';
import { listen } from '../support/listen.ts';

const token = 'demo-alice';
/** The cache is off, so that every query shows its calls; and no query is too expensive. */
const settings = { recordTtlSeconds: '0', maxUpstreamCalls: '5000' };

let setup: Awaited<ReturnType<typeof journey>>;
let unprojected: (document: RandomDocument) => Promise<GraphQLResponse>;
beforeAll(async () => {
  setup = await journey(settings);
  // While the tier of a token is unknown, fields that show it may be requested too.
  await setup.cost('{ celebrity(id: "1044707") { birthday } subject(id: "1292052") { durations } }', { token });
  unprojected = await facadeWithoutFields();
  // Both know who the caller is.
  const naming = { query: '{ book(id: "6082808") { viewerCollection { user { id } } } }', variables: {} };
  await setup.cost(naming.query, { token });
  await unprojected(naming);
});

describe('every selection', () => {
  test(
    'has the same values as with all fields requested, and requests only fields that it needs',
    { timeout: 300_000 },
    async () => {
      let checked = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 0x7fffffff }), async (seed) => {
          const document = randomDocument(schema, seed, { depth: 5, first: 3 });
          const { response, passed } = await setup.cost(document.query, { token, variables: document.variables });
          const whole = await unprojected(document);
          expect({ document, ...comparable(response) }).toEqual({ document, ...comparable(whole) });

          const needed = namesNeeded(parse(document.query), document.variables);
          for (const { line } of passed) {
            const sent = fieldsOf(line);
            if (!sent) continue;
            checked++;
            const allowed = needed.get(typeNameOf(endpointAt(line))) ?? new Set();
            expect({ document, line, unselected: sent.filter((name) => name !== 'id' && !allowed.has(name)) }).toEqual({
              document,
              line,
              unselected: [],
            });
          }
        }),
        { numRuns: thorough ? 45 : 20, seed: 7, endOnFailure: true },
      );
      expect(checked).toBeGreaterThan(thorough ? 50 : 20);
    },
  );
});

/** Another facade over the same data, whose upstream calls have no `fields` parameter. */
async function facadeWithoutFields(): Promise<(document: RandomDocument) => Promise<GraphQLResponse>> {
  const { hostname, port } = new URL(setup.origin.url);
  const proxy: Server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '', setup.origin.url);
    url.searchParams.delete('fields');
    const path = url.pathname + url.search;
    // The Host of the first facade's proxy, because URLs in records begin with it.
    const headers = { ...incoming.headers, host: new URL(setup.proxy.url).host };
    const onward = forward({ hostname, port, method: incoming.method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  const url = await listen(proxy);
  const upstream = createUpstream(catalogService, { ...setup.config, baseUrl: url, eventBaseUrl: url });
  const facade = await openServer(setup.config, { schema, upstream, log: pino({ level: 'silent' }) });
  afterUse(async () => {
    await facade.close();
    await upstream.close();
  });
  return async (document) => {
    const response = await fetch(`${facade.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(document),
    });
    return (await response.json()) as GraphQLResponse;
  };
}

/** Data and errors, sorted, because the order of errors depends on timing. */
function comparable({ data, errors = [] }: GraphQLResponse) {
  const failures = errors.map(({ path, extensions }) => `${(path ?? []).join('.')} ${String(extensions.code)}`);
  return { data: data as unknown, errors: failures.sort() };
}

const fieldsOf = (line: string): string[] | undefined => /[?&]fields=([^&]*)/.exec(line)?.[1]?.split(',');

/** For each type, the fields of its record that the selected fields declare, and its keys. */
function namesNeeded(document: DocumentNode, variables: Record<string, unknown>): Map<string, Set<string>> {
  const needed = new Map<string, Set<string>>();
  const add = (type: string, names: readonly string[]) =>
    needed.set(type, new Set([...(needed.get(type) ?? []), ...names]));
  add('Collection', ['user_id', 'book_id']);
  // Fields that show the tier are requested with any field that not every tier gets.
  add('Subject', ['durations', 'languages', 'pubdates']);
  /** Lists whose items may tell what is needed of their parent. */
  const carriers: { parent: string; members: readonly string[]; item: string; carriedBy: string }[] = [];
  const showsPlaces = /\b(?:cursor|startCursor|endCursor|after)\b/.test(print(document));
  const info = new TypeInfo(schema);
  const skipExcluded = {
    enter: (node: { directives?: readonly unknown[] }) => (isExcluded(node as never, variables) ? false : undefined),
  };
  visit(
    document,
    visitWithTypeInfo(info, {
      [Kind.FRAGMENT_SPREAD]: skipExcluded,
      [Kind.INLINE_FRAGMENT]: skipExcluded,
      Field: {
        enter(node) {
          if (isExcluded(node, variables)) return false;
          const [type, field] = [info.getParentType(), info.getFieldDef()];
          if (!isObjectType(type) || !field || node.name.value.startsWith('__')) return undefined;
          const rule = fieldRule(field);
          const { needs = [], from = [], embedded, idIn, needsBelow = {}, endpoint, provides, newestFirst } = rule;
          // Cursors of a list ordered by time have the time of an item, and so has the token of its changes.
          if (newestFirst && typeof endpoint === 'object' && (showsPlaces || rule.tellsChanges))
            add(typeNameOf(endpoint), [newestFirst.time, ...(newestFirst.changed ? [newestFirst.changed] : [])]);
          if (provides?.carriedBy && typeof endpoint === 'object')
            carriers.push({
              ...provides,
              parent: type.name,
              item: typeNameOf(endpoint),
              carriedBy: provides.carriedBy,
            });
          add(type.name, [
            ...needs,
            ...from,
            ...(embedded ? [embedded.member] : []),
            ...(idIn ? [idIn] : []),
            ...Object.values(needsBelow).flat(),
          ]);
          return undefined;
        },
      },
    }),
  );
  for (const { parent, members, item, carriedBy } of carriers)
    if (members.some((member) => needed.get(parent)?.has(member))) add(item, [carriedBy]);
  // A book of the series tells its title.
  if (needed.get('Series')?.has('title')) add('Book', ['series']);
  return needed;
}

function isExcluded(node: Parameters<typeof getDirectiveValues>[1], variables: Record<string, unknown>): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false
  );
}
