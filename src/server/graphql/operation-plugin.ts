/** The plugin of Yoga and Envelop by which documents are parsed, checked and run here. What other plugins do around that is theirs. */
import type {
  DocumentNode,
  ExecutionArgs,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  ValidationRule,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** `Context`: what each hook gets of the request. */
export interface OperationEngine<Context> {
  readonly schema: GraphQLSchema;
  /** Throws what is wrong with the text. */
  readonly parse: (text: string, context: Context) => DocumentNode;
  /** What is wrong with the document. `rules`: those that other plugins have added. */
  readonly validate: (
    document: DocumentNode,
    context: Context,
    rules: readonly ValidationRule[],
  ) => readonly GraphQLError[];
  readonly execute: (args: OperationArgs<Context>) => Executed | Promise<Executed>;
}

export type OperationArgs<Context> = Pick<ExecutionArgs, 'document' | 'operationName' | 'variableValues'> & {
  readonly contextValue: Context;
};

const TWO_SCHEMAS =
  'This server has a schema of its own beside catalogPlugin, which runs operations by the schema of the facade alone. To have both, add its fields to the facade (extend of createFacade), or serve it at another path, in a server without catalogPlugin.';

type Executed = ExecutionResult | AsyncIterable<ExecutionResult>;

export const operationPlugin = <Context extends object>({
  schema,
  parse,
  validate,
  execute,
}: OperationEngine<Context>): Plugin<Context, Context> => ({
  // When all plugins are there, so that `onSchemaChange` sees the schema of another one.
  onEnveloped: ({ setSchema }) => setSchema(schema),
  onSchemaChange(changed) {
    if (changed.schema !== schema) throw new Error(TWO_SCHEMAS);
  },
  onParse({ context, setParseFn }) {
    setParseFn((source: string | { body: string }) =>
      parse(typeof source === 'string' ? source : source.body, context),
    );
  },
  onValidate({ context, setValidationFn }) {
    setValidationFn((_: unknown, document: DocumentNode, rules: readonly ValidationRule[] = []) =>
      validate(document, context, rules),
    );
  },
  onExecute: ({ setExecuteFn }) =>
    setExecuteFn(({ contextValue, ...args }: ExecutionArgs) =>
      execute({ ...args, contextValue: contextValue as Context }),
    ),
});
