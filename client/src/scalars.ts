/** The option `scalars` of GraphQL Code Generator. */
export const scalars = {
  DateTime: 'string',
  LocalDateTime: 'string',
  URL: 'string',
  Upload: { input: 'Blob', output: 'never' },
} as const;

/** The option `customScalarTypes` of the Relay compiler. */
export const customScalarTypes = {
  DateTime: 'string',
  LocalDateTime: 'string',
  URL: 'string',
  Upload: 'Blob',
} as const;

/** The option `scalars` of gql.tada: `initGraphQLTada<{ introspection: introspection; scalars: Scalars }>()`. */
export interface Scalars {
  DateTime: string;
  LocalDateTime: string;
  URL: string;
  Upload: Blob;
}

/** A `LocalDateTime`, which is in the time zone of the service: `new Date(text)` would read it in that of the browser. */
export const localDateTime = (text: string): Date => new Date(`${text}+08:00`);
