/** What examples/offline-apollo keeps on a device, without its pages: as it is there, over real sockets. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as outboxModule from '../../examples/offline-apollo/src/offline/outbox.ts';
import type * as rowsModule from '../../examples/offline-apollo/src/offline/rows.ts';
import type * as serviceModule from '../../examples/offline-apollo/src/offline/service.ts';
import type * as shelfModule from '../../examples/offline-apollo/src/offline/shelf-copy.ts';
import type * as syncModule from '../../examples/offline-apollo/src/offline/sync.ts';
import { frontEnd } from '../frontend/front-end.ts';

const folder = join(frontEnd('apollo', 'catalog-graphql-client'), 'src/offline');
cpSync('examples/offline-apollo/src/offline', folder, { recursive: true });
const load = async <Module>(name: string) => (await import(pathToFileURL(join(folder, name)).href)) as Module;

export const { outboxIn, withWrites, writeFor, KEPT_MS, MOST_WRITES } = await load<typeof outboxModule>('outbox.ts');
export const { rowsInMemory } = await load<typeof rowsModule>('rows.ts');
export const { shelfCopy } = await load<typeof shelfModule>('shelf-copy.ts');
const { serviceAt } = await load<typeof serviceModule>('service.ts');
const { syncOf } = await load<typeof syncModule>('sync.ts');

const noChange = () => undefined;

/** A device of alice. `via` is its network; what it has stored outlives `restart`. */
export function offlineDevice(
  url: string,
  { via = fetch, bounds }: { via?: typeof fetch; bounds?: { entries: number; bytes: number } } = {},
) {
  const stored = { shelf: rowsInMemory(), outbox: rowsInMemory() };
  let token = 'demo-alice';
  const started = () => {
    const [shelf, outbox] = [shelfCopy(stored.shelf, noChange, bounds), outboxIn(stored.outbox, noChange)];
    const service = serviceAt(`${url}/graphql`, () => ({ authorization: `Bearer ${token}` }), via);
    return { shelf, outbox, run: syncOf({ user: 'alice', shelf, outbox, service }) };
  };
  let app = started();
  return {
    stored,
    app: () => app,
    /** The app ends and starts again. */
    async restart() {
      app = started();
      await Promise.all([app.shelf.load(), app.outbox.load()]);
    },
    setToken: (next: string) => (token = next),
    run: () => app.run(),
    /** Until nothing is left to be read or sent. */
    async settle() {
      for (let runs = 0; (await app.run()).problem !== null; runs++)
        if (runs > 50) throw new Error('the device does not come to an end');
    },
    /** What is tapped on the page of a book. */
    write(book: string, change: outboxModule.Change) {
      const shown = { id: `Book:${book}`, title: book, authors: [], cover: null };
      const entry = app.shelf.state().entries.find((each) => each.book?.id === shown.id);
      return app.outbox.add(writeFor(shown, change, entry, app.outbox.writes()));
    },
    /** The person says of the first write that is not simply made: save it again. */
    async decideAgain() {
      await app.run();
      const open = app.outbox.writes().find(({ state }) => state !== 'waiting' && state !== 'made')!;
      const entry = app.shelf.state().entries.find((each) => each.book?.id === open.book.id);
      await app.outbox.decide(open.key, 'again', entry);
    },
    shown: () => withWrites(app.shelf.state().entries, app.outbox.writes()),
  };
}
