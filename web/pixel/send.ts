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

const originOf = (url: string) => url.split('/').slice(0, 3).join('/');

/**
 * Posts a message, as text: JSON needs a preflight, which does not complete while a page closes. A beacon outlives the
 * page. The browser refuses one beyond 64 KiB under way, and a fetch with `keepalive` too; a plain fetch is left then.
 *
 * @param endpoints the first that is no 404; of several the response must be seen, so no beacon
 * @param isSeen whether the response is to be seen, and a refusal said
 */
export function post(endpoints: string[], message: string, isSeen: boolean): void {
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
      post(endpoints, message, isSeen);
    } else if (response.status >= 400 && response.status < 500) {
      response.json().then(
        (body) => tell(`a call was refused: ${body.error.message}`),
        () => tell(`a call was refused with status ${response.status}`),
      );
    }
  };
  attempt(() =>
    request(true)
      .catch(() => request(false))
      .then(seen)
      // Offline or blocked.
      .catch(() => null),
  );
}

/** Posts a message and returns the response's body. Rejects unless it is a success. */
export function ask(endpoints: string[], message: string): Promise<{ visitor_id?: string | null }> {
  const [url = ''] = endpoints;
  return fetch(url, { method: 'POST', body: message, credentials: 'omit', keepalive: true }).then(
    (response) => {
      if (response.ok) return response.json();
      if (response.status !== 404 || endpoints.length < 2) throw response.status;
      endpoints.shift();
      return ask(endpoints, message);
    },
  );
}
