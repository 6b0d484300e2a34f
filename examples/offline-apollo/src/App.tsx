import { useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { BookPage } from './BookPage.tsx';
import { device } from './device.ts';
import { type Change, type QueuedWrite, isToBeSent, isUndecided } from './offline/outbox.ts';
import { logIn } from './session.ts';
import { ShelfPage, statuses } from './ShelfPage.tsx';

const bookInAddress = () => decodeURIComponent(location.hash.slice(1));

export function App() {
  const [book, setBook] = useState(bookInAddress);
  // In the layout phase: an effect runs after the first paint, and would miss an event before it.
  useLayoutEffect(() => {
    const follow = () => {
      setBook(bookInAddress());
      scrollTo(0, 0);
    };
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  const isOnline = useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
  const { writes, run } = useSyncExternalStore(device.subscribe, device.read);
  const waiting = writes.filter((write) => isToBeSent(write, writes));
  const behind = ({ book }: QueuedWrite) =>
    writes.filter(({ book: { id }, state }) => id === book.id && state === 'waiting');
  return (
    <>
      <header className="site bar">
        <a className="mark" href="#" aria-current={book === '' ? 'page' : undefined}>
          <img src="/icon.svg" width="24" height="24" alt="" />
          Shelf
        </a>
        <span className={isOnline ? 'soft' : 'offline'} id="network" role="status">
          {isOnline ? 'online' : 'offline: as seen last'}
        </span>
      </header>
      <main>
        {waiting.length > 0 && (
          <details className="card" id="outbox">
            <summary>{waiting.length === 1 ? '1 change waits' : `${waiting.length} changes wait`} to be sent</summary>
            <ul className="plain">
              {waiting.map(({ key, book, variables }) => (
                <li key={key}>
                  <span lang="zh">{book.title}</span>
                  <span className="soft">
                    {' '}
                    {inWords(variables)}, key {key.slice(0, 8)}…
                  </span>
                </li>
              ))}
            </ul>
          </details>
        )}
        {writes.filter(isUndecided).map((write) => (
          <Decision key={write.key} write={write} behind={behind(write)} />
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

/** A write that is not simply done, with what waits behind it: the person sees it, and says what to do with all of it. */
function Decision({ write, behind }: { write: QueuedWrite; behind: QueuedWrite[] }) {
  const { book, state, says, now } = write;
  const what = {
    unknown: 'it is not known whether this was saved. Look at your shelf.',
    conflict: `this was not saved, because the entry was changed elsewhere. It is now: ${inWords(now)}.`,
    gone: 'this was not saved, because the book was taken off your shelf elsewhere.',
  };
  return (
    <div className="card wrong" role="alert" data-state={state}>
      <p>
        <span lang="zh">{book.title}</span>, {[write, ...behind].map((each) => inWords(each.variables)).join(', then ')}
        : {state in what ? what[state as keyof typeof what] : 'this was not saved.'}
      </p>
      <p className="soft">{says}</p>
      <button onClick={() => void device.decide(write, 'again')}>
        {state === 'gone' ? 'Put it back' : 'Save again'}
      </button>{' '}
      <button onClick={() => void device.decide(write, 'forget')}>Dismiss</button>
    </div>
  );
}

function inWords({ status, rating, tags, comment, isPrivate }: Change = {}): string {
  const words = [
    status && statuses[status].toLowerCase(),
    rating !== undefined && (rating === null ? 'no rating' : `${rating} of 5`),
    tags !== undefined && `tags: ${[tags ?? []].flat().join(', ') || 'none'}`,
    comment !== undefined && `opinion: ${comment || 'none'}`,
    isPrivate != null && (isPrivate ? 'private' : 'public'),
  ];
  return words.filter(Boolean).join('; ');
}

function subscribeToNetwork(listener: () => void): () => void {
  for (const event of ['online', 'offline']) window.addEventListener(event, listener);
  return () => {
    for (const event of ['online', 'offline']) window.removeEventListener(event, listener);
  };
}
