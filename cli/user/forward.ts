import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** A signed request of an event, as the stream of a listener has it. */
export type SignedRequest = { headers: Record<string, string>; body: string };

/** Longest time to the status of a response, as for a delivery. Milliseconds. */
const RESPONSE_MS = 20_000;

/**
 * Posts an event to an address.
 *
 * @param url with `http:` or `https:`
 * @param isTrusting accepts any certificate
 * @returns the status of the response
 * @throws the network's error
 */
export async function forward(
  url: URL,
  { headers, body }: SignedRequest,
  { isTrusting }: { isTrusting: boolean },
): Promise<number> {
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    signal: AbortSignal.timeout(RESPONSE_MS),
  };
  const request =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, rejectUnauthorized: !isTrusting })
      : httpRequest(url, options);
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // An error after the status changes nothing.
  request.on('error', () => undefined);
  response.on('error', () => undefined).resume();
  return response.statusCode ?? 0;
}
