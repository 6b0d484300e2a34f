import { type TestFlags, configWith } from './config.ts';

/** For programs in which no operation should time out or be logged as slow: a machine may be slow or stall for seconds. */
export const patientEnv = { CALL_TIMEOUT_MS: '60000', OPERATION_TIMEOUT_MS: '60000', SLOW_OPERATION_MS: '0' };

const numbers = { CONNECT_TIMEOUT_MS: '60000', HEADERS_TIMEOUT_MS: '60000', BODY_TIMEOUT_MS: '60000' };

/** The settings of a facade in which nothing should time out. */
export const patientConfig = (env: NodeJS.ProcessEnv, settings: TestFlags = {}) =>
  configWith({ ...patientEnv, ...numbers, ...env }, settings);

const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs } = patientConfig({});
/** The same as properties of the configuration. */
export const patient = { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs };
