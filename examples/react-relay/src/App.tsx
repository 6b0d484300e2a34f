import { Component, type ReactNode, Suspense, useLayoutEffect, useMemo, useState } from 'react';
import { RelayEnvironmentProvider } from 'react-relay';
import { BookPage } from './BookPage.tsx';
import { createEnvironment } from './environment.ts';

const FIRST = '27025715';
/** The book that the address names, and since when: what a page transferred counts from then on. */
const opened = () => ({ id: decodeURIComponent(location.hash.slice(1)) || FIRST, since: performance.now() });

export function App() {
  const [isCut, setCut] = useState(false);
  const environment = useMemo(() => createEnvironment(() => setCut(true)), []);
  const [{ id, since }, setPage] = useState(opened);
  // In the layout phase: an effect runs after the first paint, and would miss an event before it.
  useLayoutEffect(() => {
    const follow = () => {
      setCut(false);
      setPage(opened());
    };
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return (
    <RelayEnvironmentProvider environment={environment}>
      <header className="site bar">
        <a className="mark" href={`#${FIRST}`}>
          <img src="/icon.svg" width="24" height="24" alt="" />
          catalog-graphql
        </a>
        <span className="soft">alice’s view, with React and Relay</span>
      </header>
      <main>
        {isCut && (
          <p className="card" role="alert">
            Some of this page could not be loaded. <button onClick={() => location.reload()}>Try again</button>
          </p>
        )}
        <Failure key={id}>
          <Suspense
            fallback={
              <p className="card" role="status">
                Loading the book…
              </p>
            }
          >
            <BookPage id={id} since={since} />
          </Suspense>
        </Failure>
      </main>
    </RelayEnvironmentProvider>
  );
}

/** A page that failed as a whole can be tried again. */
class Failure extends Component<{ children: ReactNode }, { message?: string }> {
  override state: { message?: string } = {};
  static getDerivedStateFromError = (error: Error) => ({ message: error.message });
  override render() {
    if (this.state.message === undefined) return this.props.children;
    return (
      <div className="card" role="alert">
        <h1>The page could not be loaded</h1>
        <p>{this.state.message}</p>
        <button onClick={() => location.reload()}>Try again</button>
      </div>
    );
  }
}
