import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

export default {
  schema: 'node_modules/catalog-graphql/schema.graphql',
  documents: 'src/*.ts',
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: { unmaskFunctionName: 'getFragmentData' }, persistedDocuments: true },
      config: {
        strictScalars: true,
        scalars: {
          DateTime: 'string',
          LocalDateTime: 'string',
          URL: 'string',
          Upload: { input: 'Blob', output: 'never' },
        },
      },
      // Apollo Client adds __typename to what it sends, so the hashed texts need it too.
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
  },
};
