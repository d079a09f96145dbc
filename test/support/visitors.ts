import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { until } from './until.ts';

/** User agents for test visits. */
export const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
export const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
export const TABLET =
  'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
export const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
export const PREVIEW = 'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)';

export type Answer = {
  status: number;
  headers: Headers;
  /** Null when there is no `Location`. */
  location: URL | null;
  /** Every `Set-Cookie`. */
  cookies: string[];
  body: string;
};

/** Visits an address as a browser does, without following the redirect. */
export async function visit(url: string, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers({ 'user-agent': BROWSER });
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  const response = await fetch(url, { ...init, headers, redirect: 'manual' });
  const location = response.headers.get('location');
  return {
    status: response.status,
    headers: response.headers,
    location: location === null ? null : new URL(location),
    cookies: response.headers.getSetCookie(),
    body: await response.text(),
  };
}

/**
 * Visits a new link. On a busy machine ingest may respond 503 first, which records no click.
 *
 * @returns the redirect
 */
export function visitNew(url: string, init?: RequestInit): Promise<Answer> {
  return until(
    `a redirect of ${url}`,
    () => visit(url, init),
    ({ status }) => status >= 300 && status < 400,
  );
}

/**
 * Visits an address of `host` on the server of `url`, which is impossible with `fetch`: it sets `Host` itself.
 *
 * @param form fields of a form that is submitted there
 * @param more headers
 */
export function visitHost(
  url: string,
  host: string,
  path: string,
  form?: Record<string, string>,
  more: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = form && new URLSearchParams(form).toString();
    const headers = {
      ...more,
      host,
      'user-agent': BROWSER,
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(new URL(url), { path, headers, method, agent: false }, (response) => {
      const location = response.headers.location;
      text(response).then(
        (body) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(
              Object.entries(response.headers).flatMap(([name, value]) =>
                typeof value === 'string' ? [[name, value] as [string, string]] : [],
              ),
            ),
            location: location === undefined ? null : new URL(location),
            cookies: response.headers['set-cookie'] ?? [],
            body,
          }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
