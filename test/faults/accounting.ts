import { expect } from 'vitest';
import type { Ready } from '../support/service.ts';
import { until } from '../support/until.ts';

type Page = { clicks: { id: string; visitor_id: string }[]; next_cursor: string | null; watermark: string };

const PATIENCE_MS = 90_000;

/**
 * Waits until every click made up to now is visible (the watermark has passed this moment), then walks the whole
 * stream of clicks and counts them: each redirected visitor is there exactly once.
 *
 * @param answered visitor ids of the clicks that got a redirect
 * @returns how many clicks are stored, including those without a response
 */
export async function accountFor(service: Ready, key: string, answered: string[]): Promise<number> {
  await untilVisible(service, key, Date.now());
  const stored = new Map<string, number>();
  let cursor: string | null = null;
  do {
    const page: Page = await clicks(service, key, cursor);
    for (const { visitor_id } of page.clicks) stored.set(visitor_id, (stored.get(visitor_id) ?? 0) + 1);
    cursor = page.next_cursor;
  } while (cursor !== null);
  const lost = answered.filter((visitor) => !stored.has(visitor));
  const double = [...stored].filter(([, count]) => count > 1);
  expect(lost, `${lost.length} of ${answered.length} answered clicks are lost`).toEqual([]);
  expect(double, `${double.length} clicks are stored more than once`).toEqual([]);
  return stored.size;
}

/** Waits until the watermark has passed `moment` (milliseconds since the epoch). */
export async function untilVisible(service: Ready, key: string, moment: number): Promise<void> {
  await until(
    `a watermark past ${new Date(moment).toISOString()}`,
    // A database may still be starting.
    () => clicks(service, key, null, 1).then((page) => page.watermark, String),
    (watermark) => Date.parse(watermark) > moment,
    { timeoutMs: PATIENCE_MS, intervalMs: 100 },
  );
}

async function clicks(service: Ready, key: string, before: string | null, limit = 500): Promise<Page> {
  const query = before === null ? '' : `&before=${encodeURIComponent(before)}`;
  const response = await fetch(`${service.api_url}/clicks?limit=${limit}&bots=include${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`GET /clicks returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Page;
}
