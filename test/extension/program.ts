/** A program that embeds facades with an extension. It runs in a process of its own, because types are declared once for a process. */
import type { FacadeOptions } from '../../facade.d.ts';
import type { OperationPrice } from '../../price.d.ts';
import { Book, type Extend } from '../../src/extend.ts';
import { ConfigError, createFacade } from '../../src/facade.ts';
import { shelf } from './shelf.ts';
import { shop, withShop } from './shop.ts';

/** One facade: what it is made with, and what it is asked. */
export interface Embedded {
  extension?: keyof typeof extensions;
  /** Beside the catalog. */
  services?: readonly (keyof typeof services)[];
  options: FacadeOptions;
  asked?: readonly Asked[];
  isAtOnce?: boolean;
  /** Documents whose price is asked. */
  priced?: readonly string[];
  isLogged?: boolean;
  /** Whether `friendsOnly` is its hook `authorize`. */
  isGuarded?: boolean;
}
/** `path`: of a text, in place of a query. `sent`: in place of `{ query }`. `etagOf`: the answer whose ETag is sent. */
export interface Asked {
  query: string;
  headers?: Record<string, string>;
  isGet?: boolean;
  path?: string;
  sent?: object;
  etagOf?: number;
}
/** What it answered, or why it was not made. */
export type Answered = { problems: readonly string[] } | { answers: Answer[]; prices: OperationPrice[]; log?: string };
export interface Answer {
  status: number;
  /** Its value, if it is JSON. */
  body: { data?: unknown; errors?: unknown[]; extensions?: Record<string, unknown> };
  text: string;
  caching: string | null;
  etag: string | null;
}

const silent: Extend = (builder) =>
  builder.objectFields(Book, (t) => ({
    silent: t.int({ description: 'A number.', resolve: () => 1 }),
    half: t.int({ description: 'A number.', maxCalls: 0.5, resolve: () => 1 }),
    said: t.int({ description: 'A number.', maxCalls: 0, resolve: () => 1 }),
  }));
const loud: Extend = (builder) =>
  builder.objectField(Book, 'loud', (t) => t.string({ description: 'A text.', resolve: ({ title }) => title }));
/** As a program in plain JavaScript may write it. */
const misspelt: Extend = (builder) => {
  const typo = (options: object) => options as never;
  builder.objectRef<{ id: string }>('Shed').implement(
    typo({
      descripton: 'A shed.',
      fields: (t: { id: (options: object) => unknown }) => ({ id: t.id({ description: 'x', needs: ['id'] }) }),
    }),
  );
  builder.objectFields(Book, (t) => ({
    spine: t.computed(typo({ type: 'String', description: 'A text.', needs: ['titel'], resolve: () => '' })),
    jacket: t.field(
      typo({
        type: 'Int',
        description: 'A number.',
        maxCalls: 0,
        maxCals: 2,
        args: { size: t.arg.int(typo({ requird: true })) },
        resolve: () => 1,
      }),
    ),
  }));
};
const later = (async () => undefined) as unknown as Extend;

/** Friends may run everything, others nothing. On a latecomer it decides while the call of a friend is in flight. */
function friendsOnly(): Pick<FacadeOptions, 'authorize' | 'headersTo'> {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return {
    authorize: async ({ headers }) => {
      if (headers['x-user'] === 'latecomer') await begun;
      return headers['x-user'] === 'friend' || 'for friends only';
    },
    headersTo: (service) => {
      if (service === 'shop') begin();
      return {};
    },
  };
}

const services = { shop, again: { ...shop } };
const extensions = { shop: withShop, shelf, silent, loud, misspelt, later, text: 'shelf' as unknown as Extend };

async function open({
  extension,
  services: names,
  options,
  asked = [],
  isAtOnce = false,
  priced = [],
  isLogged = false,
  isGuarded = false,
}: Embedded): Promise<Answered> {
  try {
    let log = '';
    const facade = createFacade({
      ...options,
      ...(isLogged && { onLog: (line: string) => void (log += line) }),
      ...(isGuarded && friendsOnly()),
      ...(extension && { extend: extensions[extension] as never }),
      ...(names && { services: names.map((name) => services[name]) }),
    });
    const answers: Answer[] = [];
    const answer = async (each: Asked) => answerOf(await facade.fetch(requestOf(each, answers)));
    if (isAtOnce) answers.push(...(await Promise.all(asked.map(answer))));
    else for (const each of asked) answers.push(await answer(each));
    const prices = priced.map((document) => facade.price(document));
    await facade.close();
    return { answers, prices, ...(isLogged && { log }) };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

function requestOf({ query, headers = {}, isGet = false, path, sent = { query }, etagOf }: Asked, answers: Answer[]) {
  if (path !== undefined) return new Request(`http://here${path}`);
  const etag = etagOf === undefined ? undefined : answers[etagOf]!.etag!;
  const init = { headers: { 'content-type': 'application/json', ...headers, ...(etag && { 'if-none-match': etag }) } };
  return isGet
    ? new Request(`http://here/graphql?query=${encodeURIComponent(query)}`, init)
    : new Request('http://here/graphql', { ...init, method: 'POST', body: JSON.stringify(sent) });
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const isJson = /^application\/(graphql-response\+)?json/.test(headers.get('content-type') ?? '');
  const body = isJson ? (JSON.parse(text) as Answer['body']) : {};
  return { status, body, text, caching: headers.get('cache-control'), etag: headers.get('etag') };
}

const results: Answered[] = [];
for (const each of JSON.parse(process.argv[2]!) as Embedded[]) results.push(await open(each));
process.stdout.write(JSON.stringify(results));
