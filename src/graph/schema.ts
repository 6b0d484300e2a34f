import { type GraphQLSchema, specifiedDirectives } from 'graphql';
import { builder } from '../engine/builder.ts';
import { describeItemCosts } from '../engine/cost/describe-cost.ts';
import { describeGrowth, describeSources } from '../engine/descriptions.ts';
import { deferDirective, streamDirective } from '../engine/plan/incremental-directives.ts';
import { describeNulls, semanticNonNullDirective } from '../engine/null-conditions.ts';
import '../engine/fields/declare.ts';
import { expectedFields } from './service/expected-fields.ts';
import './viewer.ts';
import '../engine/node-query.ts';
import './service/service.ts';
import './types/user.ts';
import './book/book.ts';
import './book/book.settling.ts';
import './book/collection.ts';
import './book/collection.mutations.ts';
import './book/series.ts';
import './book/tag.ts';
import './book/annotation.ts';
import './book/annotation.mutations.ts';
import './book/review.ts';
import './book/review.mutations.ts';
import './note/note.ts';
import './note/note.settling.ts';
import './note/comment.ts';
import './note/comment.mutations.ts';
import './note/note.mutations.ts';
import './film/subject.ts';
import './film/genre.ts';
import './film/celebrity.ts';
import './film/photo.ts';
import './film/opinion.ts';
import './film/chart.ts';
import './event/event.ts';
import './event/event.settling.ts';
import './event/event.mutations.ts';
import './event/attendance.ts';
import './event/attendance.mutations.ts';
import './event/city.ts';

builder.mutationType({
  description:
    'The root of all writes, for logged-in people only. A mutation is one write to the service (a note with more than three pictures is ' +
    'several), and no write is repeated. Its input is checked first: `extensions.violations` of the error lists all violations, each with ' +
    'the path of the field, code, limit and actual value. The record that is changed is `id` in the input, another one has its type in front, ' +
    'as in `bookId`. Two kinds are named by others: the collection of the caller by its book, `bookId`, and a comment by its note and its own ' +
    'id, `noteId` and `commentId`. Global and bare ids are accepted. With the header `Idempotency-Key`, the same request again is not written again. ' +
    '`onError` of a request says what an error nulls: `PROPAGATE`, `NULL` or `HALT`.',
});

/** The schema of what is declared by now. Its descriptions say what the declarations say: of nulls, of costs, and of the interface of the service. */
export function buildSchema(): GraphQLSchema {
  const built = builder.toSchema({
    directives: [...specifiedDirectives, deferDirective, streamDirective, semanticNonNullDirective],
    extensions: { expectedFields },
  });
  describeNulls(built);
  describeItemCosts(built);
  describeSources(built);
  describeGrowth(built);
  built.description = DESCRIPTION;
  return built;
}

const DESCRIPTION = `
Books, notes, films and city events of one catalog, as one graph.

- **To start**: \`book\`, \`subject\` (a film), \`celebrity\`, \`user\`, \`city\`, \`event\`, the charts such as \`top250\`, and the searches. \`node(id:)\` loads any object whose type implements \`Node\`.
- **Ids**: every \`id\` in a response is global (\`Book:6082808\`). Arguments accept the global id or the bare id of the service (\`6082808\`).
- **Lists** are connections: \`first\` and \`after\`, or \`last\` and \`before\` where the list is not ordered by time, with \`nodes\`, \`edges\` and \`pageInfo\`. \`totalCount\` may cost a call.
- **Cost**: one call of the service loads the fields of one record, and many records contain the first items of their lists. With the header \`x-explain: plan\` an operation is not run, and the response says how many calls it would make at least and at most; \`x-explain: trace\` lists the calls that were made.
- **Null** means that there is none, unless \`errors\` has the path of the field. Branch on \`extensions.code\` of an error; \`extensions.help\` links to its explanation. A field that the caller's film tier does not include is null with \`TIER_REQUIRED\`.
- **Upstream** means the interface of the service: the last sentence of a description names its operation, or its member where the name differs.
- **Writing** needs the token of a person: \`Authorization: Bearer …\`. Each mutation has one \`input\`; one error reports all violations of rules, in \`extensions.violations\`.
- **Limits**, tiers and scopes are data: \`service { limits fieldRequirements }\`, \`viewer { canUse }\`.
`.trim();

/** The schema of the catalog. */
export const schema = buildSchema();
