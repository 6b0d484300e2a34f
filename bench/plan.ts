/**
 * Measures planning: a thousand distinct documents through the pipeline, with an upstream that responds immediately, and the share of
 * planning in it. Then look-ups in an existing plan, and the plan, trace and price of the largest documents. `npm run bench:plan`
 */
import { GraphQLError, parse } from 'graphql';
import { pino } from 'pino';
import { catalogService } from '../src/graph/service/descriptor.ts';
import { readConfig } from '../src/config/read.ts';
import { worstCaseOf } from '../src/engine/cost/call-cost.ts';
import type { OperationPlan } from '../src/engine/plan/operation-plan.ts';
import { createAssess } from '../src/engine/documents/assess.ts';
import { hintsOf } from '../src/engine/documents/hints.ts';
import { createPlanCache } from '../src/engine/plan/plan-cache.ts';
import { schema } from '../src/graph/schema.ts';
import { createPipeline } from '../src/server/graphql/pipeline.ts';
import { createCancellationToken } from '../src/lib/cancellation.ts';
import { createTransport } from '../src/upstream/http/pool.ts';
import { createUpstream } from '../src/upstream/client.ts';
import { book } from './records.ts';

const DOCUMENTS = 1_000;
const ROUNDS = 5;
const LOOKUPS = 1_000_000;

const nowhere = 'http://127.0.0.1:9';
const config = readConfig({ BASE_URL: nowhere, EVENT_BASE_URL: nowhere, RECORD_TTL_SECONDS: '0' });
const settings = { ...config, baseUrl: nowhere, eventBaseUrl: nowhere };
const bookText = JSON.stringify(book(1));
const upstream = createUpstream(catalogService, settings, {
  transport: {
    ...createTransport(settings),
    send: () =>
      new Promise((resolve) =>
        setImmediate(resolve, {
          ...{ status: 200, headers: {}, text: bookText, isMended: false },
          ...{ bytes: bookText.length, attempts: 1 },
        }),
      ),
  },
});
const pipeline = createPipeline({ schema, config, upstream, log: pino({ level: 'silent' }) });
const context = { authorization: undefined, explain: undefined, address: '127.0.0.1', requestId: 'bench' };
const anonymous = { isLoggedIn: false, filmTier: null };

const text = (round: number, index: number) => `query Q${round}_${index} {
  book(id: "${index + 1}") {
    title authors summary rating { average } tags(first: 8) { name count } series { title } publisher pages
  }
}`;

const since = (started: bigint) => Number(process.hrtime.bigint() - started);

async function throughPipeline(round: number): Promise<number> {
  const started = process.hrtime.bigint();
  for (let index = 0; index < DOCUMENTS; index++) {
    const prepared = pipeline.prepare(text(round, index), undefined);
    await pipeline.run(prepared, { ...context, variables: undefined, cancellation: createCancellationToken() });
  }
  return since(started);
}

function planning(round: number): number {
  const documents = Array.from({ length: DOCUMENTS }, (_, index) => parse(text(round, index)));
  const plans = createPlanCache(schema);
  const started = process.hrtime.bigint();
  for (const document of documents) {
    const [operation] = document.definitions;
    if (operation?.kind === 'OperationDefinition')
      worstCaseOf(planned(plans.plannerFor(document, operation).planFor(anonymous, {})), {});
  }
  return since(started);
}

function planned(plan: OperationPlan | GraphQLError): OperationPlan {
  if (plan instanceof GraphQLError) throw plan;
  return plan;
}

const ratios: number[] = [];
const each: { all: number; plan: number }[] = [];
for (let round = 0; round <= ROUNDS; round++) {
  const all = await throughPipeline(round);
  const plan = planning(ROUNDS + 1 + round);
  if (round === 0) continue; // warm-up
  ratios.push(all / (all - plan));
  each.push({ all: all / DOCUMENTS / 1000, plan: plan / DOCUMENTS / 1000 });
}
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
console.log(
  `a distinct document: ${median(each.map(({ all }) => all)).toFixed(0)} us from text to response, of which ` +
    `${median(each.map(({ plan }) => plan)).toFixed(1)} us planning; ${median(ratios).toFixed(3)} x as long as without`,
);

const document = parse(text(0, 0));
const operation = document.definitions[0];
if (operation?.kind === 'OperationDefinition') {
  const planner = createPlanCache(schema).plannerFor(document, operation);
  const variants = process.hrtime.bigint();
  for (let at = 0; at < LOOKUPS; at++) planner.planFor(anonymous, {});
  console.log(`looked up: ${(since(variants) / LOOKUPS).toFixed(0)} ns a plan`);
}

/** Documents near the limits. */
const lists = (count: number, inside: string, first = '100'): string =>
  Array.from(
    { length: count },
    (_, at) => `a${at}: annotations(first: ${first}, offset: ${at}) { nodes { ${inside} } }`,
  ).join(' ');
const chain = (depth: number): string =>
  depth === 0 ? 'title' : `annotations(first: 100) { nodes { book { title summary ${chain(depth - 1)} } } }`;
const leaves = 'id title subtitle originalTitle authors translators publisher pages price binding summary authorIntro';
const large: Record<string, string> = {
  'lists of lists': `{ book(id: 1) { ${lists(20, `book { ${chain(3)} }`)} } }`,
  'a thousand fields': `{ book(id: 1) { ${lists(60, `book { ${leaves} }`)} } }`,
  'records of all types': `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Subject { id } ... on User { id } ... on Note { id } ... on Book { ${lists(40, 'book { authorIntro }')} } } }`,
  'a page size in a variable': `query ($n: Int) { book(id: 1) { ${lists(60, 'book { authorIntro }', '$n')} } }`,
};
const assess = createAssess(schema, config);
const cpu = async (run: () => unknown): Promise<number> => {
  const times: number[] = [];
  for (let at = 0; at < 9; at++) {
    const { user, system } = process.cpuUsage();
    await run();
    const after = process.cpuUsage();
    times.push((after.user + after.system - user - system) / 1_000);
  }
  return median(times.slice(2));
};
for (const [name, text] of Object.entries(large)) {
  const variables = { ids: Array.from({ length: 50 }, (_, at) => `Book:${at + 1}`) };
  const { errors, cost } = assess(text);
  const explained = (explain: 'plan' | 'trace') => () => {
    const given = { ...context, explain, variables, cancellation: createCancellationToken() };
    return pipeline.run(pipeline.prepare(`${text} # ${Math.random()}`, undefined), given);
  };
  const [plan, price] = [await cpu(explained('plan')), await cpu(() => assess(text))];
  const hints = await cpu(() => cost && hintsOf(cost.usual, config));
  console.log(
    `${name}, ${text.length} characters${errors.length > 0 ? ' (rejected)' : ''}: plan ${plan.toFixed(1)} ms of CPU, price ${price.toFixed(1)} ms, hints ${hints.toFixed(1)} ms`,
  );
}
await upstream.close();
