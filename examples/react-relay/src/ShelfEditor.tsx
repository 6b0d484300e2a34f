import { useState } from 'react';
import { graphql, useFragment, useMutation } from 'react-relay';
import { fieldErrors } from '../../../client/src/errors.ts';
import type { ShelfEditor_book$key } from './__generated__/ShelfEditor_book.graphql.ts';
import type { CollectionStatus, ShelfEditorMutation } from './__generated__/ShelfEditorMutation.graphql.ts';

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
  const [commit, isSending] = useMutation<ShelfEditorMutation>(graphql`
    mutation ShelfEditorMutation($input: CollectBookInput!) @raw_response_type {
      collectBook(input: $input) {
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
    const input = {
      bookId: id,
      onConflict: 'UPDATE' as const,
      isPrivate: false,
      status: change.status ?? entry?.status ?? ('READING' as const),
      rating: change.rating ?? entry?.rating?.value,
      comment: change.comment ?? entry?.comment,
      tags: entry?.tagNames ?? [],
    };
    const rating = input.rating == null ? null : { value: input.rating };
    const shown = {
      id: entry?.id ?? `Collection:new:${id}`,
      status: input.status,
      comment: input.comment ?? null,
      tagNames: input.tags,
      rating,
    };
    setWrong({});
    commit({
      variables: { input },
      optimisticResponse: { collectBook: { book: { id, viewerCollection: shown } } },
      onCompleted: (_, errors) => setWrong(shownErrors(errors)),
      onError: (error) => setWrong({ form: error.message }),
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
          {isSending ? 'Saving…' : ''}
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
