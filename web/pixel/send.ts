import { attempt, tell } from './attempt.ts';

/** Says which line of the page's policy lacks us: a browser drops what it forbids without a word to the script. */
export function watchPolicy(endpoints: readonly string[]): void {
  attempt(() =>
    document.addEventListener('securitypolicyviolation', (event) => {
      const origin = endpoints.map(originOf).filter((one) => event.blockedURI.indexOf(one) === 0)[0];
      if (origin && event.effectiveDirective === 'connect-src')
        tell(`the page's Content-Security-Policy blocks calls: add ${origin} to connect-src`);
    }),
  );
}

/** The response to a call. `visitor_id`: of a visit, for the page to store. */
export type Answer = { ok?: boolean; visitor_id?: string | null };

const originOf = (url: string) => url.split('/').slice(0, 3).join('/');

/**
 * Posts a message, as text: JSON needs a preflight, which does not complete while a page closes. A beacon outlives the
 * page. The browser refuses one beyond 64 KiB under way, and a fetch with `keepalive` too; a plain fetch is left then.
 *
 * @param endpoints the first that is no 404; of several the response must be seen, so no beacon
 * @param isSeen whether the response is to be seen, and a refusal said
 * @param done gets the body of a response that is seen, or an empty one when there is none
 */
export function post(
  endpoints: string[],
  message: string,
  isSeen: boolean,
  done: (answer: Answer) => void = () => {},
): void {
  const [url = ''] = endpoints;
  const mayBeacon = endpoints.length === 1 && !isSeen;
  if (mayBeacon && attempt(() => navigator.sendBeacon(url, message))) return;
  const request = (keepalive: boolean) =>
    fetch(url, { method: 'POST', body: message, credentials: 'omit', keepalive });
  const seen = (response: Response) => {
    if (
      (response.status === 404 || response.status === 405) &&
      endpoints.length > 1 &&
      endpoints[0] === url
    ) {
      endpoints.shift();
      post(endpoints, message, isSeen, done);
      return;
    }
    return response.json().then((body) => {
      if (response.status < 500 && body.error) tell(`a call was refused: ${body.error.message}`);
      done(body);
    });
  };
  attempt(() =>
    request(true)
      .catch(() => request(false))
      .then(seen)
      // Offline, blocked, or not from our server.
      .catch(() => done({})),
  );
}
