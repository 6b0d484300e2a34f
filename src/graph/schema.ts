import { specifiedDirectives } from 'graphql';
import { builder } from './engine/builder.ts';
import { describeItemCosts } from './engine/describe-cost.ts';
import { attachResolvers } from './engine/attach-resolvers.ts';
import { deferDirective, streamDirective } from './engine/incremental.ts';
import { describeNulls, semanticNonNullDirective } from './null-conditions.ts';
import './engine/field-options.ts';
import './engine/mutation.ts';
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

schema.description = `
Books, notes, films and city events of one catalog, as one graph.

- **To start**: \`book\`, \`subject\` (a film), \`celebrity\`, \`user\`, \`city\`, \`event\`, the charts such as \`top250\`, and the searches. \`node(id:)\` takes every \`id\` of the graph.
- **Lists** are connections: \`first\` and \`after\`, with \`nodes\`, \`edges\` and \`pageInfo\`. \`totalCount\` may cost a call.
- **Cost**: fields of one record are loaded by one call of the service, and many lists come with their record. With the header \`x-explain: plan\` an operation is not run, and the answer says how many calls it would make at least and at most; \`x-explain: trace\` lists the calls that were made.
- **Null** means that there is none, unless \`errors\` names the field. Branch on \`extensions.code\` of an error; \`extensions.help\` links to its explanation.
- **Writing** needs a token of a person: \`Authorization: Bearer …\`. Each mutation takes one \`input\` and writes once; broken rules are reported all together, in \`violations\`.
- **Limits**, tiers and scopes are data: \`service { limits fieldRequirements }\`, \`viewer { canUse }\`.
`.trim();
