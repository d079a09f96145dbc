import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { CDPSession, Frame, Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** axe reports passes without their elements. */
const RUN = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)";

/** One for each page. They stay: one that ends takes the virtual authenticators of its page with it. */
const sessions = new WeakMap<Page, CDPSession>();

/** Forbidden actions of a page, and the paths of its API calls. */
export type Watched = { violations: string[]; errors: string[]; foreign: string[]; calls: string[] };

/**
 * Records every policy violation, every script error, and every request to another host or to the API.
 *
 * @param known origins that the page may call, or paths of other ones
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
    if (!url.startsWith('data:') && !known.some((start) => url.startsWith(`${start}/`)))
      watched.foreign.push(url);
  });
  return watched;
}

/** Returns axe's violations of a document, by rule, with the elements. */
export async function axeViolations(document: Frame | Page): Promise<string[]> {
  if (!(await document.evaluate("'axe' in window"))) await addAxe(document);
  const violations = (await document.evaluate(RUN)) as Result[];
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}

/**
 * Adds axe to a document. V8 keeps the code of a script that the protocol evaluates; what Playwright evaluates within
 * the page is compiled again for each document.
 */
async function addAxe(document: Frame | Page): Promise<void> {
  if (!('context' in document)) return document.evaluate(AXE);
  const session = sessions.get(document) ?? (await document.context().newCDPSession(document));
  sessions.set(document, session);
  const { exceptionDetails } = await session.send('Runtime.evaluate', { expression: `${AXE};0` });
  if (exceptionDetails) throw new Error(exceptionDetails.text);
}
