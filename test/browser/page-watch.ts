import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Frame, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Of what is right, axe need not tell every element. */
const RUN = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)";

/** What a page did that it must not do, and the paths of its calls of the API. */
export type Watched = { violations: string[]; errors: string[]; foreign: string[]; calls: string[] };

/**
 * Notes every breach of a policy, every error of a script, every request to another host or to the API.
 *
 * @param known origins that it may ask
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

/** What axe finds wrong with a document, by rule, with the elements. */
export async function axeViolations(document: Frame | Page): Promise<string[]> {
  if (!(await document.evaluate("'axe' in window"))) await document.evaluate(AXE);
  const violations = (await document.evaluate(RUN)) as Result[];
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}
