/** The recipes that docs/writes.md prints, run as they stand there: a response is lost, and the client asks again by itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApolloClient, type ApolloLink, InMemoryCache, gql } from '@apollo/client';
import { Client, type Exchange } from '@urql/core';
import { expect, test } from 'vitest';
import { frontEnd } from '../frontend/front-end.ts';
import { compileProblems, tsExamplesOf } from '../support/examples.ts';
import { type Fault, losingProxy } from '../support/losing-proxy.ts';
import { replica } from '../support/replica.ts';
import { service } from '../support/service.ts';

const origin = await service();
/** Between clients and the facade. The faults of requests, in turn. */
const faults: Fault[] = [];
const { url, reached } = await losingProxy((await replica(origin.url)).url, () => faults.shift());
const headers = { authorization: 'Bearer demo-alice' };

const examples = tsExamplesOf('docs/writes.md');
/** With the address of this facade, and a token as an app has one. */
async function moduleOf<Exports>(at: number): Promise<Exports> {
  const file = join(frontEnd('apollo', 'catalog-graphql-client'), `src/example${at}.ts`);
  const own = `{ uri: '${url}/graphql', headers: ${JSON.stringify(headers)} }`;
  writeFileSync(file, examples[at]!.replace("{ uri: '/graphql' }", own));
  return (await import(pathToFileURL(file).href)) as Exports;
}

const document = gql`
  mutation ($noteId: ID!, $content: String!) {
    createNoteComment(input: { noteId: $noteId, content: $content }) {
      comment {
        id
        content
      }
    }
  }
`;

async function noteOf() {
  const { body } = await origin.post('/v2/notes', 'alice', new URLSearchParams({ title: 't', content: 'c' }));
  const comments = async (): Promise<string[]> =>
    (await origin.get(`/v2/note/${body.id}/comments`, 'alice')).body.comments.map(
      ({ content }: { content: string }) => content,
    );
  return { noteId: String(body.id), comments };
}

test('the link for Apollo Client asks again with the same key, and the write is made once', async () => {
  const { link } = await moduleOf<{ link: ApolloLink }>(0);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { noteId, comments } = await noteOf();
  const before = reached.length;
  faults.push({ kind: 'lost' }, { kind: 'dropped' });
  const { data } = await client.mutate({ mutation: document, variables: { noteId, content: 'by apollo' } });
  expect(data).toMatchObject({ createNoteComment: { comment: { content: 'by apollo' } } });
  expect(reached.length - before).toBe(2);
  expect(await comments()).toEqual(['by apollo']);
  client.stop();
});

test('the link for Apollo Client sends a key that the context has', async () => {
  const { link } = await moduleOf<{ link: ApolloLink }>(0);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { noteId, comments } = await noteOf();
  const send = () =>
    client.mutate({
      mutation: document,
      variables: { noteId, content: 'from a queue' },
      context: { idempotencyKey: `key of ${noteId}`.replaceAll(' ', '-') },
    });
  expect((await send()).data).toEqual((await send()).data);
  expect(await comments()).toEqual(['from a queue']);
  client.stop();
});

test('the exchanges for urql ask again with the same key and the headers of the client', async () => {
  const { exchanges } = await moduleOf<{ exchanges: Exchange[] }>(1);
  const client = new Client({ url: `${url}/graphql`, exchanges, fetchOptions: { headers } });
  const { noteId, comments } = await noteOf();
  faults.push({ kind: 'lost' }, { kind: 'dropped' });
  const { data, error } = await client.mutation(document, { noteId, content: 'by urql' }).toPromise();
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ createNoteComment: { comment: { content: 'by urql' } } });
  expect(await comments()).toEqual(['by urql']);
});

test('both compile', () => {
  expect(compileProblems('test/clients', examples)).toEqual([]);
});
