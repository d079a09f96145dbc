import type { Page, Response } from 'playwright-core';
import { until } from '../support/until.ts';

type GotoOptions = NonNullable<Parameters<Page['goto']>[1]>;

/** Opens a short link that was just made: on a busy machine ingest may respond 503 first, which records no click. */
export async function openLink(page: Page, url: string, options: GotoOptions = {}): Promise<void> {
  const open = (): Promise<Response | null> => page.goto(url, options);
  await until(
    `a response of ${url} that is not 503`,
    open,
    (response) => response !== null && response.status() !== 503,
  );
}
