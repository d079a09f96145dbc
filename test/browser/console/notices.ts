import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LIMIT_MS } from '../../support/until.ts';

/** Script of a page: records the texts of all notices, most of which end after four seconds. */
export const RECORD_NOTICES = `{
  const seen = globalThis.noticesSeen = [];
  const texts = new WeakMap();
  new MutationObserver(() => {
    for (const one of document.querySelectorAll('.mantine-Notification-root')) {
      if (texts.get(one) === one.textContent) continue;
      texts.set(one, one.textContent);
      seen.push(one.textContent);
    }
  }).observe(document, { characterData: true, childList: true, subtree: true });
}`;

/** Waits until the page has shown a notice with this text since it was loaded; it may have ended meanwhile. */
export async function expectNotice(page: Page, text: string): Promise<void> {
  await expect
    .poll(() => page.evaluate('noticesSeen'), { timeout: LIMIT_MS })
    .toContainEqual(expect.stringContaining(text));
}
