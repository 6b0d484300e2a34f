import { readConfig } from '../../src/config/read.ts';

/** Waits of a facade in whose tests nothing ends by its time: a machine may be slow, or stand still for seconds. */
export const patientEnv = {
  CONNECT_TIMEOUT_MS: '60000',
  HEADERS_TIMEOUT_MS: '60000',
  BODY_TIMEOUT_MS: '60000',
  CALL_TIMEOUT_MS: '60000',
  OPERATION_TIMEOUT_MS: '60000',
};

const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs } = readConfig(patientEnv);
/** The same as a configuration has them. */
export const patient = { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, callTimeoutMs, operationTimeoutMs };
