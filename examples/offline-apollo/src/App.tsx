import { useEffect, useState, useSyncExternalStore } from 'react';
import { BookPage } from './BookPage.tsx';
import { device } from './device.ts';
import type { QueuedWrite } from './offline/outbox.ts';
import { logIn } from './session.ts';
import { ShelfPage } from './ShelfPage.tsx';

const bookInAddress = () => decodeURIComponent(location.hash.slice(1));

export function App() {
  const [book, setBook] = useState(bookInAddress);
  useEffect(() => {
    const follow = () => {
      setBook(bookInAddress());
      scrollTo(0, 0);
    };
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
  const { writes, run } = useSyncExternalStore(device.subscribe, device.read);
  const waiting = writes.filter(({ state }) => state === 'waiting');
  const open = writes.filter(({ state }) => state === 'unknown' || state === 'rejected');
  return (
    <>
      <header className="bar">
        <a href="#" aria-current={book === '' ? 'page' : undefined}>
          Shelf
        </a>
        <span className="soft" id="network" role="status">
          {isOnline ? 'online' : 'offline: what you have seen is here'}
        </span>
      </header>
      <main>
        {waiting.length > 0 && (
          <details className="card" id="outbox">
            <summary>{waiting.length === 1 ? '1 change waits' : `${waiting.length} changes wait`} to be sent</summary>
            <ul className="plain">
              {waiting.map(({ key, book, variables: { status } }) => (
                <li key={key}>
                  <span lang="zh">{book.title}</span>
                  <span className="soft">
                    {' '}
                    {status?.toLowerCase()}, key {key.slice(0, 8)}…
                  </span>
                </li>
              ))}
            </ul>
          </details>
        )}
        {open.map((write) => (
          <Decision key={write.key} write={write} />
        ))}
        {run.problem === 'login' && (
          <p className="card wrong" role="alert">
            Your login has ended. What you changed is kept.{' '}
            <button onClick={() => (logIn(), void device.refresh())}>Log in again</button>
          </p>
        )}
        {run.problem === 'update' && (
          <p className="card wrong" role="alert">
            This app is too old. What you changed is kept until it is updated.
          </p>
        )}
        {book === '' ? <ShelfPage /> : <BookPage key={book} id={book} />}
      </main>
    </>
  );
}

/** A write that is not simply done: the person sees it, and says what to do. */
function Decision({ write: { key, book, variables, state, says } }: { write: QueuedWrite }) {
  return (
    <div className="card wrong" role="alert" data-state={state}>
      <p>
        <span lang="zh">{book.title}</span>, {variables.status?.toLowerCase()}:{' '}
        {state === 'unknown' ? 'it is not known whether this was saved. Look at your shelf.' : 'this was not saved.'}
      </p>
      <p className="soft">{says}</p>
      <button onClick={() => void device.decide(key, 'again')}>Save again</button>{' '}
      <button onClick={() => void device.decide(key, 'forget')}>Dismiss</button>
    </div>
  );
}

function subscribeToNetwork(listener: () => void): () => void {
  for (const event of ['online', 'offline']) window.addEventListener(event, listener);
  return () => {
    for (const event of ['online', 'offline']) window.removeEventListener(event, listener);
  };
}
