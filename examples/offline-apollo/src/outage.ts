import { retryByCode } from 'catalog-graphql-client/errors';

/** Whether a response says only that the service cannot answer now. */
export const isOutage = (errors: readonly { extensions?: Record<string, unknown> }[] = []): boolean =>
  errors.some(({ extensions }) => retryByCode[String(extensions?.code)] === 'later');
