import { useEffect, useState, useSyncExternalStore } from 'react';
import { BookPage } from './BookPage.tsx';
import { outbox } from './outbox.ts';
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
  const { waiting, problem } = useSyncExternalStore(outbox.subscribe, outbox.read);
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
              {waiting.map(({ key, title, variables: { status } }) => (
                <li key={key}>
                  <span lang="zh">{title}</span>
                  <span className="soft">
                    {' '}
                    {status?.toLowerCase()}, key {key.slice(0, 8)}…
                  </span>
                </li>
              ))}
            </ul>
          </details>
        )}
        {problem && (
          <p className="card wrong" role="alert">
            {problem}
          </p>
        )}
        {book === '' ? <ShelfPage /> : <BookPage key={book} id={book} />}
      </main>
    </>
  );
}

function subscribeToNetwork(listener: () => void): () => void {
  for (const event of ['online', 'offline']) window.addEventListener(event, listener);
  return () => {
    for (const event of ['online', 'offline']) window.removeEventListener(event, listener);
  };
}
