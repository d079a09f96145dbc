import { request } from 'node:http';
import { request as secureRequest } from 'node:https';

/**
 * Requests a URL and returns its status, without the body. Unlike `fetch`, it uses no proxy of the environment
 * (`NODE_USE_ENV_PROXY`), which can't reach this machine's own addresses, and keeps no connection open.
 *
 * @returns the HTTP status
 * @throws Error telling why there is no response within the time
 */
export function directStatus(url: string, timeoutMs: number): Promise<number> {
  const send = url.startsWith('https:') ? secureRequest : request;
  return new Promise((resolve, reject) => {
    const sent = send(url, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', (error) => {
      reject(error.name === 'AbortError' ? new Error(`no response within ${timeoutMs / 1000} s`) : error);
    });
    sent.end();
  });
}
