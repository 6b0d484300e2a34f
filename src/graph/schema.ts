import { specifiedDirectives } from 'graphql';
import { builder } from './engine/builder.ts';
import { describeItemCosts } from './engine/describe-cost.ts';
import { attachResolvers } from './engine/attach-resolvers.ts';
import { deferDirective, streamDirective } from './engine/incremental.ts';
import { describeNulls, semanticNonNullDirective } from './null-conditions.ts';
import './engine/field-options.ts';
import './root.ts';
import './service/service.ts';
import './types/upload.ts';
import './types/user.ts';
import './book/book.ts';
import './book/collection.ts';
import './book/collection.mutations.ts';
import './book/series.ts';
import './book/tag.ts';
import './book/annotation.ts';
import './book/annotation.mutations.ts';
import './book/review.ts';
import './book/review.mutations.ts';
import './note/note.ts';
import './note/comment.ts';
import './note/comment.mutations.ts';
import './note/note.mutations.ts';
import './film/subject.ts';
import './film/celebrity.ts';
import './film/photo.ts';
import './film/opinion.ts';
import './film/chart.ts';
import './event/event.ts';
import './event/event.mutations.ts';
import './event/attendance.ts';
import './event/attendance.mutations.ts';
import './event/city.ts';

/** The schema, with the engine's resolvers attached. */
export const schema = describeItemCosts(
  describeNulls(
    attachResolvers(
      builder.toSchema({
        directives: [...specifiedDirectives, deferDirective, streamDirective, semanticNonNullDirective],
      }),
    ),
  ),
);
