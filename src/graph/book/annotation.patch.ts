/** How an update of an annotation keeps what its input leaves out. */
import { type AnnotationRecord, PRIVACY_PRIVATE, PRIVACY_PUBLIC, bookEndpoints } from '../../api/book.ts';
import type { DescribedPatch } from '../../engine/fields/change.ts';
import { recordOrReference } from '../../engine/fields/node.ts';
import { asInt } from '../../engine/values/decode.ts';
import { refusalOf } from '../caller.ts';
import { column, neededText, sureNumber, sureText } from '../../engine/fields/patch.ts';

/** The input of the whole annotation. */
interface WholeAnnotation {
  content: string;
  page?: number | null | undefined;
  chapter?: string | null | undefined;
  isPrivate: boolean;
}

export const annotationPatch: DescribedPatch<WholeAnnotation, AnnotationRecord> = {
  notes: 'A page clears the chapter, and a chapter the page.',
  read: bookEndpoints.annotation,
  input: (id) => ({ id, format: 'text' }),
  owner: ({ author_id }) => author_id,
  absent: 'ANNOTATION_NOT_FOUND',
  refusal: refusalOf(authorOfAnnotation),
  columns: [
    column('content', 'content', neededText),
    column('page', 'page_no', sureNumber, { clearedBy: 'chapter', isClearable: true }),
    column('chapter', 'chapter', sureText, { clearedBy: 'page', isClearable: true }),
    { fields: ['isPrivate'], keep: ({ privacy }) => privacyAt(privacy), shown: ({ privacy }) => privacy },
  ],
};

export function authorOfAnnotation({ author_user, author_id }: Pick<AnnotationRecord, 'author_user' | 'author_id'>) {
  return recordOrReference(author_user, author_id);
}

/** Other levels are not specified, so they are not kept. */
export function privacyAt(privacy: unknown): { isPrivate: boolean } | undefined {
  const level = asInt(privacy);
  return level === PRIVACY_PUBLIC || level === PRIVACY_PRIVATE ? { isPrivate: level === PRIVACY_PRIVATE } : undefined;
}
