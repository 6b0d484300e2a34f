import type { DocumentNode } from 'graphql';

/** Without the package graphql, which a front end may do without, its types are `any`: a type that is assignable to any other document. */
type AnyDocument = void extends DocumentNode ? { kind: never; definitions: readonly never[] } : DocumentNode;

/**
 * A document with the types of its result and variables. It is the type of @graphql-typed-document-node/core, written out: npm installs
 * graphql, of 3 MB, with that package.
 */
export type TypedDocumentNode<Result, Variables> = AnyDocument & {
  /** Exists for the compiler only. */
  __apiType?: (variables: Variables) => Result;
};
