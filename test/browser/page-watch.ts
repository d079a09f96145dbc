import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** axe reports passes without their elements. */
const RUN = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)";

/** Forbidden actions of a page, and the paths of its API calls. */
export type Watched = { violations: string[]; errors: string[]; foreign: string[]; calls: string[] };

/**
 * Records every policy violation, every script error, and every request to another host or to the API.
 *
 * @param known origins that the page may call
 */
export function watch(page: Page, known: string[]): Watched {
  const watched: Watched = { violations: [], errors: [], foreign: [], calls: [] };
  page.on('console', (message) => {
    if (/content security policy|trusted type/i.test(message.text())) watched.violations.push(message.text());
  });
  page.on('pageerror', (error) => watched.errors.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (url.includes('/api/v1/')) watched.calls.push(new URL(url).pathname);
    if (!url.startsWith('data:') && !known.includes(new URL(url).origin)) watched.foreign.push(url);
  });
  return watched;
}

/** Returns axe's violations of a document, by rule, with the elements. */
export async function axeViolations(document: Frame | Page): Promise<string[]> {
  if (!(await document.evaluate("'axe' in window"))) await document.evaluate(AXE);
  const violations = (await document.evaluate(RUN)) as Result[];
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}
