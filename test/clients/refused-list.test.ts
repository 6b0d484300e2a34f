/** A page with a refused list, as docs/client-caches.md prints it. */
import { ApolloProvider } from '@apollo/client/react';
import { createElement as element } from 'react';
import { expect, onTestFinished, test, vi } from 'vitest';
import { journey } from '../support/journey.ts';
import { apolloClient } from './apollo.ts';
import { reactPage } from './react-page.ts';
import { FilmPage } from './refused-list.tsx';

const { window, createRoot } = await reactPage();

let isFailing = false;
const { facade } = await journey({}, (path) => (isFailing && path.includes('/1295644/photos') ? 500 : undefined));

async function open(token: string) {
  const client = apolloClient(`${facade.url}/graphql`, token);
  const show = async () => {
    const place = window.document.createElement('div');
    const root = createRoot(place);
    const page = element(FilmPage, { id: 'Subject:1295644' });
    root.render(element(ApolloProvider, { client, children: page }));
    onTestFinished(() => root.unmount());
    await soon(() => expect(place.textContent).toContain('这个杀手不太冷'));
    return place;
  };
  onTestFinished(() => client.stop());
  return { place: await show(), show };
}

const click = (place: Element) => place.querySelector('button')!.click();
const soon = (check: () => void) => vi.waitFor(check, { timeout: 15_000 });

test('a failed list is named beside the rest of the page, and is loaded again alone', async () => {
  isFailing = true;
  const { place, show } = await open('demo-alice');
  expect(place.textContent).toContain('The photos could not be loaded. Again');
  const sent = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => sent.mockRestore());
  click(place);
  await soon(() => expect(sent.mock.settledResults).toHaveLength(1));
  expect(place.textContent).toContain('could not be loaded');

  // The cache has the null without its error.
  const later = await show();
  expect(later.textContent).toContain('The photos could not be loaded. Again');

  isFailing = false;
  click(later);
  for (const each of [later, place]) await soon(() => expect(each.querySelectorAll('img')).toHaveLength(12));
  expect(later.querySelector('button')).toBeNull();
  for (const [, init] of sent.mock.calls) expect(init!.body as string).not.toContain('title');
});

test('a list that the user may not see is called so, without a button', async () => {
  const { place } = await open('demo-bob');
  expect(place.textContent).toContain('The photos are not available to you.');
  expect(place.querySelector('button')).toBeNull();
});
