import { readConfig } from '../../src/config/read.ts';

/** For tests in which nothing should time out or be logged as slow: a machine may be slow or stall for seconds. */
export const patientEnv = {
  CONNECT_TIMEOUT_MS: '60000',
  HEADERS_TIMEOUT_MS: '60000',
  BODY_TIMEOUT_MS: '60000',
  CALL_TIMEOUT_MS: '60000',
  OPERATION_TIMEOUT_MS: '60000',
  SLOW_OPERATION_MS: '0',
};

const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs } = readConfig(patientEnv);
/** The same as properties of the configuration. */
export const patient = { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs };
