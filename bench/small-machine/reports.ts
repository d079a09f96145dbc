import { setTimeout as delay } from 'node:timers/promises';

/** A request that reads clicks of the whole year. */
export type Report = { name: string; path: string; body?: object };

const MOST_TRIES = 60;
const METRICS = ['clicks', 'visitors', 'leads', 'conversions', 'revenue'];
const YEAR = 'days=365';

/** Every report of the API over a year. */
export const REPORTS: readonly Report[] = [
  { name: 'newest clicks', path: '/clicks?limit=500' },
  { name: 'channels', path: `/channels?${YEAR}&ltv=1` },
  { name: 'links', path: `/links?${YEAR}&limit=100` },
  { name: 'links by clicks', path: `/links/search?${YEAR}&sort=clicks&limit=100` },
  { name: 'visitors', path: '/visitors?limit=100' },
  ...['time:day', 'time:month', 'channel', 'country', 'device', 'utm_campaign', 'city', 'link'].map(
    (dimension) => ({
      name: `query by ${dimension}`,
      path: '/analytics/query',
      body: { metrics: METRICS, dimensions: [dimension], compare: 'previous', window: { days: 365 } },
    }),
  ),
];

/**
 * Requests a report, and repeats the request while the API responds 503.
 *
 * @returns milliseconds, with the pauses
 * @throws Error when its status is not 200
 */
export async function ask(apiUrl: string, key: string, { path, body }: Report): Promise<number> {
  const began = performance.now();
  const response = await request(`${apiUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return performance.now() - began;
}

/** Exports the clicks of a year as CSV. @returns the rows, without the header, and milliseconds */
export async function exportYear(
  apiUrl: string,
  key: string,
): Promise<{ rows: number; milliseconds: number }> {
  const began = performance.now();
  const { body } = await request(`${apiUrl}/clicks/export?format=csv&${YEAR}&bots=include`, {
    headers: { authorization: `Bearer ${key}` },
  });
  let lines = 0;
  for await (const chunk of body ?? []) for (const byte of chunk) if (byte === 10) lines += 1;
  return { rows: lines - 1, milliseconds: performance.now() - began };
}

/** The API responds with 503 and `Retry-After` when a workspace has too many reports at a time. */
async function request(url: string, init: RequestInit): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, init);
    if (response.status === 200) return response;
    const text = await response.text();
    const pause = Number(response.headers.get('retry-after'));
    if (response.status !== 503 || tries === MOST_TRIES || !(pause > 0))
      throw new Error(`${url} returned status ${response.status}: ${text}`);
    await delay(pause * 1_000);
  }
}
