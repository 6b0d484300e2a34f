import { expect, onTestFinished, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { FilmWithDeferDocument, type FilmWithDeferQuery } from './documents.ts';
import { urqlClient } from './urql.ts';

const here = await journey();

test('deferred fields alone are loaded with the policy that the page names, and with no other', async () => {
  const requests = vi.spyOn(globalThis, 'fetch');
  const client = urqlClient(`${here.facade.url}/graphql`, 'demo-alice');
  await client.query('{ subject(id: "26266893") { id title } }', {}).toPromise();
  const variables = { id: '26266893' };
  let shown: FilmWithDeferQuery | undefined;
  const page = client.query(FilmWithDeferDocument, variables).subscribe(({ data }) => (shown = data ?? shown));
  onTestFinished(() => page.unsubscribe());
  await vi.waitFor(() => expect(shown?.subject?.title).toBeDefined(), { timeout: 15_000 });
  await client.query('{ subject(id: "26266893") { id year } }', {}).toPromise();
  expect(shown?.subject?.comments).toBeUndefined();
  expect(requests).toHaveBeenCalledTimes(2);
  client.query(FilmWithDeferDocument, variables, { requestPolicy: 'network-only' }).subscribe(() => undefined);
  await vi.waitFor(() => expect(shown?.subject?.comments?.nodes).toHaveLength(2), { timeout: 15_000 });
});
