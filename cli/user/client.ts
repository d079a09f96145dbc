import { OPERATIONS } from '../../sdk/typescript/src/generated/operations.ts';
import { Hoplog } from '../../sdk/typescript/src/hoplog.ts';
import { type Call, createTransport } from '../../sdk/typescript/src/transport.ts';
import { currentLogin, type Login } from './login.ts';

/** Longest time of one call: that of a slow report. Milliseconds. */
const TIMEOUT_MS = 120_000;
const RETRIES = 3;

export type OperationId = keyof typeof OPERATIONS;
export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

/** Returns the SDK's client for the login of this user. @throws {CommandFailed} without a login */
export function userClient(login: Login = currentLogin()): Hoplog {
  return new Hoplog({ key: login.key, baseUrl: login.url, timeoutMs: TIMEOUT_MS, retries: RETRIES });
}

/** Calls an operation by its id. Returns the JSON of the response; the `Response` itself where that is not JSON. */
export function callOperation(id: OperationId, call: Call): Promise<unknown> {
  const { url, key } = currentLogin();
  const transport = createTransport({
    key,
    apiUrl: `${url}/api/v1`,
    fetch,
    timeoutMs: TIMEOUT_MS,
    retries: RETRIES,
  });
  return transport(OPERATIONS[id], call);
}
