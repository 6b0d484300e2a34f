/** A field whose own resolver reads what a reader without a token is shown. */
import type { GraphQLFieldResolver, GraphQLResolveInfo } from 'graphql';
import type { Context } from '../context.ts';
import type { ParentRecord, Resolution } from './field-call.ts';

export function readingResolver(
  inner: GraphQLFieldResolver<ParentRecord, Context, object>,
  info: GraphQLResolveInfo,
): (parent: ParentRecord, resolution: Resolution) => unknown {
  return (parent, { plan, args, context, path }) => {
    if (plan.mode === 'null') return null;
    const readAsNobody = context.upstream.readerAsNobody(path);
    return inner(parent, args, Object.assign(Object.create(context) as Context, { readAsNobody }), info);
  };
}
