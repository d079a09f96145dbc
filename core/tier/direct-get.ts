import { request } from 'node:http';
import { request as secureRequest } from 'node:https';

/** Longest body that is read by default. Bytes. */
const MOST_BYTES = 65_536;

/** Requests a URL as {@link directGet} does and returns its status. */
export async function directStatus(url: string, timeoutMs: number): Promise<number> {
  return (await directGet(url, timeoutMs)).status;
}

/**
 * Requests a URL and returns its status and a short body. Unlike `fetch`, it uses no proxy of the environment
 * (`NODE_USE_ENV_PROXY`), which can't reach this machine's own addresses, and keeps no connection open.
 *
 * @throws Error with the reason when no response comes in time
 */
export function directGet(
  url: string,
  timeoutMs: number,
  mostBytes = MOST_BYTES,
): Promise<{ status: number; body: string }> {
  const send = url.startsWith('https:') ? secureRequest : request;
  return new Promise((resolve, reject) => {
    const sent = send(url, { agent: false, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
        if (body.length > mostBytes)
          response.destroy(new Error(`the body is longer than ${mostBytes} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', (error) => {
      reject(error.name === 'AbortError' ? new Error(`no response within ${timeoutMs / 1000} s`) : error);
    });
    sent.end();
  });
}
