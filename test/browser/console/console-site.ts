import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Role } from '../../../core/access/roles.ts';
import { inviteUrl } from '../../../core/access/session-tokens.ts';
import { createInvite } from '../../../sql/console/invites.ts';
import { createPool, type Pool } from '../../../sql/database/pool.ts';
import { buildWeb } from '../../../web/build.ts';
import { hoplog } from '../../support/hoplog.ts';
import { NIGHTLY } from '../../support/nightly.ts';
import { type Ready, startService } from '../../support/service.ts';
import { servedWorkspace } from '../../support/shared-service.ts';
import { LIMIT_MS } from '../../support/until.ts';
import { sharedChromium } from '../chromium.ts';
import { axeViolations, type Watched, watch } from '../page-watch.ts';
import { openEmptyPage } from './browser-pool.ts';
import { RECORD_NOTICES } from './notices.ts';
import { type Cookie, signedInCookie } from './signed-in.ts';

export { axeViolations } from '../page-watch.ts';
export { expectNotice } from './notices.ts';

export const SCHEMES = ['light', 'dark'] as const;
/** Widths in which every page is checked, the narrowest usual desktop and phone; pictures are wider. CSS pixels. */
export const WIDTHS = process.env.SCREENSHOT_DIR ? ([1_440, 390] as const) : ([1_280, 360] as const);
/** Password of every member that the site creates. */
export const PASSWORD = 'correct horse battery';
/** A limit for a loaded machine, not an expectation. Milliseconds. */
const PATIENCE = LIMIT_MS;

export type OpenOptions = {
  /** Role of the demo workspace's member who opens it; null: signed out. Default: `owner`. */
  role?: Role | null;
  width?: number;
  scheme?: 'light' | 'dark';
  /** Default: `127.0.0.1`; passkeys belong to `localhost`. */
  host?: '127.0.0.1' | 'localhost';
  /** Notices with Undo stay as long as a loaded machine needs. */
  keepsUndo?: boolean;
  /** IANA name; default: that of this machine. */
  timeZone?: string;
};

export type ConsolePage = Page & { watched: Watched };

/** Lets timers of 10 seconds, which close notices with Undo, take ten minutes. */
const KEEP_UNDO =
  'const later = setTimeout; setTimeout = (run, ms, ...more) => later(run, ms === 10000 ? 600000 : ms, ...more)';

/** The service with its console, and Chromium. */
export type ConsoleSite = {
  service: Ready;
  /** Data directory of the service. */
  dataDir: string;
  /** Origin of the console. */
  app: string;
  /** Shared with other files: close what you open in it. */
  browser: Browser;
  /** Host of the members' addresses: `owner@<mail>`. */
  mail: string;
  /** Opens a page of the console (`/links`) as a member of this role, in a context of its own; close it. */
  open(path: string, options?: OpenOptions): Promise<ConsolePage>;
  /** Calls the API with the demo workspace's secret key. @param path below `/api/v1` */
  api<T>(path: string, body?: object, method?: string): Promise<T>;
  /** Runs an operator command beside the service, and returns its `--json` output. */
  hoplog<T>(...args: string[]): Promise<T>;
  /** Moves the last confirmation of every member back by an hour. */
  forgetConfirmations(): Promise<void>;
  /** Returns the link of an invitation to the demo workspace. */
  invite(role?: Role, email?: string): Promise<string>;
  close(): Promise<void>;
};

/** The console of a workspace of the file's own, in the service that all files share. */
export async function consoleSite(): Promise<ConsoleSite> {
  const { service, slug, dataDir, pool, close } = await servedWorkspace();
  return siteOf({ service, mail: `${slug}.example`, dataDir, pool, close });
}

/** For tests that change a whole service: starts one as `npm start` does, on free ports and an empty directory. */
export async function startConsoleSite(env: NodeJS.ProcessEnv = {}): Promise<ConsoleSite> {
  await buildWeb();
  const directory = mkdtempSync(join(tmpdir(), 'hoplog-console-'));
  const dataDir = join(directory, 'data');
  const service = await startService({ dataDir, env });
  const { databaseUrl } = JSON.parse(readFileSync(join(dataDir, 'run', 'supervisor.json'), 'utf8'));
  const pool = createPool(databaseUrl, { max: 2 });
  const close = async () => {
    await pool.end();
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  return siteOf({ service, mail: 'demo.example', dataDir, pool, close });
}

type Served = {
  service: Ready;
  /** Host of the members' addresses. */
  mail: string;
  dataDir: string;
  pool: Pool;
  close(): Promise<void>;
};

async function siteOf({ service, mail, dataDir, pool, close }: Served): Promise<ConsoleSite> {
  const browser = await sharedChromium();
  /** Pages that the tests have not closed yet. */
  const pages = new Set<Page>();
  const app = new URL(service.api_url).origin;
  const byName = app.replace('127.0.0.1', 'localhost');
  const { demo } = service;
  if (!demo) throw new Error('the first start created no demo workspace');
  const signedIn = new Map<string, Promise<Cookie>>();

  const operate = async <T>(...args: string[]): Promise<T> => {
    const ended = await hoplog([...args, '--json'], { DATA_DIR: dataDir });
    if (ended.status !== 0) throw new Error(ended.stderr);
    return JSON.parse(ended.stdout) as T;
  };

  const invite = async (role: Role = 'owner', email: string | null = null): Promise<string> => {
    const { token } = await createInvite(pool, { workspaceId: demo.workspace_id, email, role });
    return inviteUrl(app, token);
  };

  /** Signs a member of this role in once; later pages have the same cookie. */
  const sessionOf = (role: Role, origin: string): Promise<Cookie> => {
    const key = `${role} ${origin}`;
    const known = signedIn.get(key);
    if (known) return known;
    const email = `${role}@${new URL(origin).hostname === 'localhost' ? 'localhost.' : ''}${mail}`;
    const made = signedInCookie(pool, {
      workspaceId: demo.workspace_id,
      role,
      email,
      password: PASSWORD,
      origin,
      userAgent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/${browser.version()}`,
    });
    signedIn.set(key, made);
    return made;
  };

  return {
    service,
    dataDir,
    app,
    browser,
    mail,
    hoplog: operate,
    invite,
    async forgetConfirmations() {
      await pool.query(
        `UPDATE sessions SET confirmed_at = now() - interval '1 hour' WHERE workspace_id = $1`,
        [demo.workspace_id],
      );
    },
    async open(
      path,
      {
        role = 'owner',
        width = 1_280,
        scheme = 'light',
        host = '127.0.0.1',
        keepsUndo = false,
        timeZone,
      } = {},
    ) {
      const origin = host === 'localhost' ? byName : app;
      const cookies = role === null ? [] : [await sessionOf(role, origin)];
      const page = await openEmptyPage(browser, { origin, timeZone, cookies });
      pages.add(page);
      page.once('close', () => pages.delete(page));
      page.setDefaultTimeout(PATIENCE);
      if (width !== 1_280) await page.setViewportSize({ width, height: 900 });
      if (scheme !== 'light') await page.emulateMedia({ colorScheme: scheme });
      const watched = watch(page, [app, byName, `${service.short_url}/assets`]);
      await page.addInitScript(RECORD_NOTICES);
      if (keepsUndo) await page.addInitScript(KEEP_UNDO);
      await page.goto(`${origin}/console${path === '/' ? '' : path}`);
      return Object.assign(page, { watched });
    },
    async api<T>(path: string, body?: object, method = body ? 'POST' : 'GET') {
      const response = await fetch(`${service.api_url}${path}`, {
        method,
        headers: { authorization: `Bearer ${demo.secret_key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
    async close() {
      await Promise.all([...pages].map((page) => page.close()));
      await close();
    },
  };
}

/**
 * Expects that the page fits in both widths, is accessible, and violates no policy. axe reads a state of a page in one
 * look, the wide light one or the narrow dark one, chosen by the state's name. The nightly run reads it in both, as
 * contrast depends on the theme and what is shown on the width. With `SCREENSHOT_DIR` set all four pairs are read, and
 * a screenshot of each is written there.
 *
 * @param name the page's state, for failures and screenshots
 * @param looks `all` checks each theme in each width
 */
export async function expectGood(
  page: ConsolePage,
  name: string,
  looks: 'each once' | 'all' = process.env.SCREENSHOT_DIR ? 'all' : 'each once',
): Promise<void> {
  const before = page.viewportSize();
  // Content that is dimmed until the next response is skipped too.
  await expect.poll(() => page.locator('.answer[data-former]').count(), { timeout: PATIENCE }).toBe(0);
  for (const [nth, width] of WIDTHS.entries()) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of looks === 'all' ? SCHEMES : SCHEMES.slice(nth, nth + 1)) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.waitForSelector(`html[data-mantine-color-scheme="${scheme}"]`);
      // The navigation moves, and colors fade: wait for both to finish.
      // Evaluated from outside: a function that waits inside the page would be `eval`, which the policy forbids.
      const moves = 'document.getAnimations().some((one) => one instanceof CSSTransition)';
      await expect.poll(() => page.evaluate(moves), { timeout: PATIENCE }).toBe(false);
      await screenshot(page, `${name}-${scheme}-${width}`);
      if (!NIGHTLY && looks === 'each once' && nth !== lookOf(name)) continue;
      expect(await axeViolations(page), `${name}, ${scheme}, ${width}`).toEqual([]);
    }
    await expectNoSidewaysScroll(page);
  }
  expectClean(page);
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
}

/** Place in `WIDTHS` and `SCHEMES` of the look in which axe reads a state: the same in each run. */
const lookOf = (name: string) => createHash('sha1').update(name).digest().readUInt8() % 2;

/** Expects that the page violated no policy, threw no error and called no other host. */
export function expectClean({ watched: { violations, errors, foreign } }: ConsolePage): void {
  expect({ violations, errors, foreign }).toEqual({ violations: [], errors: [], foreign: [] });
}

/**
 * Responds to the reads that a page makes on its own: every half a minute, and for the figures of a list once its rows
 * are there. Otherwise the page would notice the end of its session before a press does.
 */
export async function holdOwnReads(page: Page): Promise<void> {
  await page.route('**/api/v1/problems', (route) => route.fulfill({ json: { problems: [] } }));
  await page.route('**/api/v1/analytics/query', (route) => route.abort());
}

/** The controls of a page or its dialogs, except those that a table scrolls into view. */
const CUT_OFF = `[...document.querySelectorAll('a, button, input, label')].filter((one) => {
  const { width, right } = one.getBoundingClientRect();
  return width > 1 && right > document.documentElement.clientWidth + 1 && !one.closest('[role=region][tabindex]');
}).map((one) => one.outerHTML)`;

/** Expects that nothing overflows at the side, and no control is cut off there, once charts have followed the width. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(CUT_OFF), { timeout: PATIENCE }).toEqual([]);
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  await expect.poll(() => page.evaluate(overflow), { timeout: PATIENCE }).toBe(0);
}

/** Expects that nothing in a table overflows its cell. */
export async function expectCellsFit(page: Page): Promise<void> {
  const wide =
    '[...document.querySelectorAll("td, th")].filter((cell) => cell.scrollWidth > cell.clientWidth)';
  await expect
    .poll(() => page.evaluate(`${wide}.map((cell) => cell.textContent)`), { timeout: PATIENCE })
    .toEqual([]);
}

/** Returns an attribute of each element that a locator finds. */
export const attributesOf = (found: Locator, name: string): Promise<(string | null)[]> =>
  found.evaluateAll(
    (all, attribute) =>
      all.map((one) =>
        (one as unknown as { getAttribute(name: string): string | null }).getAttribute(attribute),
      ),
    name,
  );

/** Writes a screenshot of the page to `SCREENSHOT_DIR`, where that is set. @param name without an extension */
export async function screenshot(page: Page, name: string): Promise<void> {
  const { SCREENSHOT_DIR } = process.env;
  if (!SCREENSHOT_DIR) return;
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_DIR, `${name}.png`), fullPage: true });
}
