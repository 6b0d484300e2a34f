/** A program that embeds facades with an extension. It runs in a process of its own, because types are declared once for a process. */
import type { FacadeOptions } from '../../facade.d.ts';
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
  isLogged?: boolean;
}
/** `path`: of a text, in place of a query. */
export interface Asked {
  query: string;
  headers?: Record<string, string>;
  isGet?: boolean;
  path?: string;
}
/** What it answered, or why it was not made. */
export type Answered = { problems: readonly string[] } | { answers: Answer[]; log?: string };
interface Answer {
  body: { data?: unknown; errors?: unknown[]; extensions?: Record<string, unknown> };
  caching: string | null;
}

const silent: Extend = (builder) =>
  builder.objectFields(Book, (t) => ({
    silent: t.int({ description: 'A number.', resolve: () => 1 }),
    half: t.int({ description: 'A number.', maxCalls: 0.5, resolve: () => 1 }),
    said: t.int({ description: 'A number.', maxCalls: 0, resolve: () => 1 }),
  }));
const loud: Extend = (builder) =>
  builder.objectField(Book, 'loud', (t) => t.string({ description: 'A text.', resolve: ({ title }) => title }));
const later = (async () => undefined) as unknown as Extend;

const services = { shop, again: { ...shop } };
const extensions = { shop: withShop, shelf, silent, loud, later, text: 'shelf' as unknown as Extend };

async function open({
  extension,
  services: names,
  options,
  asked = [],
  isAtOnce = false,
  isLogged = false,
}: Embedded): Promise<Answered> {
  try {
    let log = '';
    const facade = createFacade({
      ...options,
      ...(isLogged && { onLog: (line: string) => void (log += line) }),
      ...(extension && { extend: extensions[extension] as never }),
      ...(names && { services: names.map((name) => services[name]) }),
    });
    const answer = async ({ query, headers = {}, isGet = false, path }: Asked) => {
      if (path !== undefined) {
        const text = await (await facade.fetch(new Request(`http://here${path}`))).text();
        return { body: { data: text }, caching: null };
      }
      const init = { headers: { 'content-type': 'application/json', ...headers } };
      const response = await facade.fetch(
        isGet
          ? new Request(`http://here/graphql?query=${encodeURIComponent(query)}`, init)
          : new Request('http://here/graphql', { ...init, method: 'POST', body: JSON.stringify({ query }) }),
      );
      return { body: (await response.json()) as Answer['body'], caching: response.headers.get('cache-control') };
    };
    const answers: Answer[] = [];
    if (isAtOnce) answers.push(...(await Promise.all(asked.map(answer))));
    else for (const each of asked) answers.push(await answer(each));
    await facade.close();
    return { answers, ...(isLogged && { log }) };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

const results: Answered[] = [];
for (const each of JSON.parse(process.argv[2]!) as Embedded[]) results.push(await open(each));
process.stdout.write(JSON.stringify(results));
