import { type FormEvent, useState } from 'react';
import { graphql, useMutation } from 'react-relay';
import type { AnnotationFormMutation } from './__generated__/AnnotationFormMutation.graphql.ts';
import { shownErrors } from './ShelfEditor.tsx';

interface Props {
  book: string;
  /** The list that shows the new annotation first. */
  connection: string;
  onDone: () => void;
}

/** An annotation with a picture. The facade names the field of each violation, and its message is shown there. */
export function AnnotationForm({ book, connection, onDone }: Props) {
  const [commit, isSending] = useMutation<AnnotationFormMutation>(graphql`
    mutation AnnotationFormMutation($input: CreateAnnotationInput!, $connections: [ID!]!) {
      createAnnotation(input: $input) {
        annotation @prependNode(connections: $connections, edgeTypeName: "AnnotationEdge") {
          id
          page
          chapter
          abstract
          time
          pictures {
            number
            url
          }
          author {
            id
            name
          }
        }
      }
    }
  `);
  const [wrong, setWrong] = useState<Record<string, string>>({});

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const file = form.get('picture') as File;
    const text = form.get('content') as string;
    const page = form.get('page') as string;
    const hasFile = file.size > 0;
    const input = {
      bookId: book,
      page: page === '' ? undefined : Number(page),
      content: hasFile ? `${text}\n<图片1>` : text,
      pictures: hasFile ? [{ number: 1, file: null as unknown as Blob }] : undefined,
    };
    setWrong({});
    commit({
      variables: { input, connections: [connection] },
      uploadables: hasFile ? { 'variables.input.pictures.0.file': file } : undefined,
      updater: (store) => {
        const list = store.get(connection);
        const count: unknown = list?.getValue('totalCount');
        const isWritten = store.getRootField('createAnnotation')?.getLinkedRecord('annotation') != null;
        if (isWritten && typeof count === 'number') list?.setValue(count + 1, 'totalCount');
      },
      onCompleted: (_, errors) => (errors?.length ? setWrong(shownErrors(errors)) : onDone()),
      onError: (error) => setWrong({ form: error.message }),
    });
  };
  const field = (name: string) => ({ 'aria-invalid': Boolean(wrong[name]), 'aria-describedby': `${name}-wrong` });
  const problem = (name: string) => (
    <p id={`${name}-wrong`} className="wrong" role="alert">
      {wrong[name]}
    </p>
  );
  return (
    <form className="form" onSubmit={submit} noValidate>
      <label htmlFor="page">Page</label>
      <input id="page" name="page" type="number" {...field('page')} />
      {problem('page')}
      <label htmlFor="content">Text</label>
      <textarea id="content" name="content" rows={4} lang="zh" {...field('content')} />
      {problem('content')}
      <label htmlFor="picture">Picture</label>
      <input id="picture" name="picture" type="file" accept="image/*" {...field('pictures.0.file')} />
      {problem('pictures.0.file')}
      {problem('form')}
      <div className="row">
        <button className="primary" disabled={isSending}>
          {isSending ? 'Sending…' : 'Publish'}
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}
