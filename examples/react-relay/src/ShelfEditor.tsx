import { useState } from 'react';
import { graphql, useFragment, useMutation } from 'react-relay';
import { fieldErrors } from '../../../client/src/errors.ts';
import type { ShelfEditor_book$key } from './__generated__/ShelfEditor_book.graphql.ts';
import type { CollectionStatus, ShelfEditorAddMutation } from './__generated__/ShelfEditorAddMutation.graphql.ts';
import type { ShelfEditorChangeMutation } from './__generated__/ShelfEditorChangeMutation.graphql.ts';

const statuses = { WISH: 'Want to read', READING: 'Reading', READ: 'Read' };

/** The viewer's entry. A change is shown at once, and taken back if the service rejects it. */
export function ShelfEditor({ book }: { book: ShelfEditor_book$key }) {
  const { id, viewerCollection: entry } = useFragment(
    graphql`
      fragment ShelfEditor_book on Book {
        id
        viewerCollection {
          id
          status
          comment
          tagNames
          rating {
            value
          }
        }
      }
    `,
    book,
  );
  const [add, isAdding] = useMutation<ShelfEditorAddMutation>(graphql`
    mutation ShelfEditorAddMutation($input: CollectBookInput!) @raw_response_type {
      collectBook(input: $input) {
        book {
          id
          ...ShelfEditor_book
        }
      }
    }
  `);
  const [update, isUpdating] = useMutation<ShelfEditorChangeMutation>(graphql`
    mutation ShelfEditorChangeMutation($input: UpdateCollectionInput!) @raw_response_type {
      updateCollection(input: $input) {
        book {
          id
          ...ShelfEditor_book
        }
      }
    }
  `);
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [comment, setComment] = useState(entry?.comment ?? '');

  const save = (change: { status?: CollectionStatus; rating?: number; comment?: string }) => {
    const shown = {
      id: entry?.id ?? `Collection:new:${id}`,
      status: change.status ?? entry?.status ?? ('READING' as const),
      comment: change.comment ?? entry?.comment ?? null,
      tagNames: entry?.tagNames ?? [],
      rating: change.rating === undefined ? (entry?.rating ?? null) : { value: change.rating },
    };
    const payload = { book: { id, viewerCollection: shown } };
    const handlers = {
      onCompleted: (_: unknown, errors: unknown) => {
        if (errors) setWrong(shownErrors(errors)); // without errors it takes back none: they may be of a later change
      },
      onError: (error: Error) => setWrong({ form: error.message }),
    };
    setWrong({});
    // A change keeps what it does not name, also who may see the entry.
    if (entry)
      update({
        variables: { input: { bookId: id, ...change } },
        optimisticResponse: { updateCollection: payload },
        ...handlers,
      });
    else
      add({
        variables: { input: { bookId: id, ...change, status: shown.status } },
        optimisticResponse: { collectBook: payload },
        ...handlers,
      });
  };
  return (
    <section className="card shelf" aria-labelledby="shelf">
      <h2 id="shelf">On my shelf</h2>
      <div className="row" role="group" aria-label="Status">
        {(Object.keys(statuses) as (keyof typeof statuses)[]).map((status) => (
          <button key={status} aria-pressed={entry?.status === status} onClick={() => save({ status })}>
            {statuses[status]}
          </button>
        ))}
      </div>
      <div className="row" role="group" aria-label="My rating">
        {[1, 2, 3, 4, 5].map((value) => (
          <button
            key={value}
            className="star"
            aria-label={`${value} of 5`}
            aria-pressed={entry?.rating?.value === value}
            onClick={() => save({ rating: value })}
          >
            {value <= (entry?.rating?.value ?? 0) ? '★' : '☆'}
          </button>
        ))}
      </div>
      <label htmlFor="comment">A short opinion</label>
      <textarea
        id="comment"
        lang="zh"
        rows={3}
        value={comment}
        aria-invalid={Boolean(wrong.comment)}
        aria-describedby="comment-wrong"
        onChange={({ target }) => setComment(target.value)}
      />
      <p id="comment-wrong" className="wrong" role="alert">
        {wrong.comment}
      </p>
      <div className="row">
        <button className="primary" onClick={() => save({ comment })}>
          Save
        </button>
        <span className="soft" role="status">
          {isAdding || isUpdating ? 'Saving…' : ''}
        </span>
      </div>
      {wrong.form && (
        <p className="wrong" role="alert">
          {wrong.form}
        </p>
      )}
    </section>
  );
}

type Errors = readonly { message: string; extensions?: Record<string, unknown> }[];

/** Messages by field; what belongs to no field is about the form. */
export function shownErrors(errors: unknown): Record<string, string> {
  const list = (errors ?? []) as Errors;
  const byField = fieldErrors(list);
  const [first] = list;
  return first && Object.keys(byField).length === 0 ? { form: first.message } : byField;
}
