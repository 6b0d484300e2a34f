import { gql, type TypedDocumentNode } from '@apollo/client';
import { useApolloClient, useQuery } from '@apollo/client/react';
import { useState } from 'react';
import { annotate, type Conflict, rate, useSearch } from './catalog';

export function App() {
  const [book, open] = useState<string>();
  return book ? <Book id={book} /> : <Search open={open} />;
}

function Search({ open }: { open: (id: string) => void }) {
  const { edges, more, error } = useSearch('孤独');
  return (
    <main>
      {error && <p role="alert">{error.message}</p>}
      {edges?.map(({ node }) => (
        <button key={node.id} onClick={() => open(node.id)}>
          {node.title}
        </button>
      ))}
      {more && <button onClick={more}>More</button>}
    </main>
  );
}

interface Page {
  book: {
    title: string;
    viewerCollection: Entry | null;
    annotations: { nodes: { id: string; abstract: string }[] } | null;
  } | null;
}
interface Entry {
  revision: string;
  rating: { value: number } | null;
}
const page: TypedDocumentNode<Page, { id: string }> = gql`
  query Page($id: ID!) {
    book(id: $id) {
      id
      title
      viewerCollection {
        id
        revision
        rating {
          value
        }
      }
      annotations(order: NEWEST, first: 5) {
        nodes {
          id
          abstract
        }
      }
    }
  }
`;

function Book({ id }: { id: string }) {
  const { data, error } = useQuery(page, { variables: { id } });
  const { book } = data ?? {};
  return (
    <main>
      {error && <p role="alert">{error.message}</p>}
      <h1>{book?.title}</h1>
      {book?.viewerCollection && (
        <Rating book={id} entry={book.viewerCollection} />
      )}
      {book?.annotations?.nodes.map(({ id, abstract }) => (
        <p key={id}>{abstract}</p>
      ))}
      {book && <Annotate book={id} />}
    </main>
  );
}

function Annotate({ book }: { book: string }) {
  const client = useApolloClient();
  const [content, setContent] = useState('');
  const [message, setMessage] = useState('');
  const send = async () => {
    const { content: wrong } = await annotate(client, book, content);
    setMessage(wrong ?? 'The annotation is stored.');
    if (wrong !== undefined) return;
    setContent('');
    // A new item is in no list of the cache yet. `Book` shows if this fails.
    client.refetchQueries({ include: ['Page'] }).catch(() => undefined);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send().catch((error: Error) => setMessage(error.message));
      }}
    >
      <textarea
        value={content}
        onChange={({ target }) => setContent(target.value)}
      />
      <p role="status">{message}</p>
      <button>Annotate</button>
    </form>
  );
}

const labels: Record<string, string> = {
  status: 'status',
  rating: 'stars',
  tags: 'tags',
  comment: 'comment',
  isPrivate: 'private',
};
const inWords = (current: Conflict['current']) =>
  Object.entries(current)
    .map(([name, value]) => `${labels[name]}: ${String(value ?? '') || 'none'}`)
    .join(', ');

function Rating({ book, entry }: { book: string; entry: Entry }) {
  const client = useApolloClient();
  const [mine, setMine] = useState(0);
  const [conflict, setConflict] = useState<Conflict>();
  const [message, setMessage] = useState('');
  const run = async (work: Promise<Conflict | undefined>) => {
    setMessage('');
    await work.then(setConflict, (error: Error) => setMessage(error.message));
  };
  const send = (rating: number, revision: string) => {
    setMine(rating);
    void run(rate(client, book, rating, revision));
  };
  // The cache still has the entry as it was before the other change.
  const reload = () => client.refetchQueries({ include: ['Page'] });
  return (
    <section>
      <p role="alert">{message}</p>
      {conflict ? (
        <p role="alertdialog">
          Changed elsewhere: {inWords(conflict.current)}.{' '}
          <button onClick={() => send(mine, conflict.revision)}>
            Keep {mine} stars
          </button>
          <button onClick={() => void run(reload().then(() => undefined))}>
            Take theirs
          </button>
        </p>
      ) : (
        [1, 2, 3, 4, 5].map((value) => (
          <button
            key={value}
            aria-pressed={entry.rating?.value === value}
            onClick={() => send(value, entry.revision)}
          >
            {value} stars
          </button>
        ))
      )}
    </section>
  );
}
