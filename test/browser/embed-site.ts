import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'playwright-core';
import { createKey } from '../../sql/workspaces/keys.ts';
import { createWorkspace, type Plan } from '../../sql/workspaces/workspaces.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { sharedChromium } from './chromium.ts';
import { type Watched, watch } from './page-watch.ts';

/** The program of the demo workspace: credits, with cash as an option. */
export const PROGRAM = {
  name: 'Friends',
  destination_url: 'https://shop.example/welcome',
  credit_enabled: true,
  credit_kind: 'credits',
  signup_credit: { free: 5, paid: 10 },
  commission_type: 'percent',
  commission_rate: 20,
  hold_days: 0,
  allow_affiliate_upgrade: true,
  payout_methods: ['paypal', 'payoneer', 'wise'],
  min_payout: 50,
  currency: 'eur',
};

export type Keys = { secret: string; publishable: string };

/** A merchant's site on another host than the service, with the service behind it. */
export type EmbedSite = {
  service: ServedWorkspace['service'];
  /** Origin of the loader and the page. */
  app: string;
  /** Origin of the merchant's pages. */
  origin: string;
  browser: Browser;
  /** A key of the demo workspace. */
  keys: Keys;
  /** Returns the loader's element, with these attributes beside `data-key`. @param key default: the demo workspace's */
  script(attributes: string, key?: string): string;
  api<T>(keys: Keys, path: string, body?: object): Promise<T>;
  /** Like `api`, with PATCH. */
  change(keys: Keys, path: string, body: object): Promise<void>;
  addWorkspace(name: string, plan: Plan): Promise<Keys>;
  /** Opens a page of the merchant's with this body. */
  open(
    body: string,
    options?: { width?: number; clipboard?: boolean; headers?: Record<string, string> },
  ): Promise<Page & { watched: Watched }>;
  close(): Promise<void>;
};

export async function startEmbedSite(): Promise<EmbedSite> {
  const { service, pool, close } = await servedWorkspace();
  const pages = new Map<string, string>();
  const headersOf = new Map<string, Record<string, string>>();
  const merchant = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    for (const [name, value] of Object.entries(headersOf.get(request.url ?? '') ?? {}))
      response.setHeader(name, value);
    response.end(pages.get(request.url ?? '') ?? '<!doctype html><title>Elsewhere</title>');
  });
  await listening(merchant);
  const origin = `http://localhost:${(merchant.address() as AddressInfo).port}`;
  const browser = await sharedChromium();
  const app = new URL(service.api_url).origin;
  const context = await browser.newContext({
    viewport: { width: 900, height: 900 },
    reducedMotion: 'reduce',
  });
  // They stay open, and with them the processes of both sites: neither a page nor its frame starts one.
  for (const kept of [origin, `${app}/health/live`]) await (await context.newPage()).goto(kept);

  async function call(method: string, keys: Keys, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`${service.api_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.secret}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  const { secret_key: secret, publishable_key: publishable } = service.demo;
  const keys = { secret, publishable };
  await call('POST', keys, '/programs', PROGRAM);

  return {
    service,
    app,
    origin,
    browser,
    keys,
    script: (attributes, key = publishable) =>
      `<script src="${app}/embed.js" data-key="${key}" ${attributes}></script>`,
    api: async <T>(keys: Keys, path: string, body?: object) =>
      (await call(body ? 'POST' : 'GET', keys, path, body)) as T,
    async change(keys, path, body) {
      await call('PATCH', keys, path, body);
    },
    async addWorkspace(name, plan) {
      const { id: workspaceId } = await createWorkspace(pool, { name, plan });
      const secret = await createKey(pool, { workspaceId, kind: 'secret', label: 'first' });
      const publishable = await createKey(pool, { workspaceId, kind: 'publishable', label: 'first' });
      return { secret: secret.token, publishable: publishable.token };
    },
    async open(body, { width = 900, clipboard = false, headers = {} } = {}) {
      const path = `/page-${pages.size}`;
      headersOf.set(path, headers);
      pages.set(path, `<!doctype html><html lang="en"><title>Shop</title><body>${body}</body></html>`);
      await Promise.all([context.clearCookies(), context.clearPermissions()]);
      const page = await context.newPage();
      if (width !== 900) await page.setViewportSize({ width, height: 900 });
      if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const watched = watch(page, [app, origin]);
      await page.goto(`${origin}${path}`);
      return Object.assign(page, { watched });
    },
    async close() {
      await context.close();
      merchant.close();
      await close();
    },
  };
}

async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

/** Returns the dashboard's frame as soon as it shows a heading of level 1 with this text. */
export async function dashboardIn(page: Page, heading = 'Your referrals', index = 0): Promise<Frame> {
  const element = await page.waitForSelector(`iframe >> nth=${index}`, { state: 'attached' });
  const frame = await element.contentFrame();
  if (!frame) throw new Error('the iframe has no document');
  await frame.waitForSelector(`h1:text-is("${heading}")`);
  return frame;
}

/** Presses Tab until the focused element of the frame has this text, label or type; fails after 60 presses. */
export async function tabTo(page: Page, frame: Frame, name: string): Promise<void> {
  const focused = (): Promise<string> =>
    frame.evaluate(`document.hasFocus()
      ? [document.activeElement, ...(document.activeElement.labels ?? [])].map((one) => one.textContent).join(' ')
      : ''`);
  for (let press = 0; press < 60; press++) {
    await page.keyboard.press('Tab');
    if ((await focused()).includes(name)) return;
  }
  throw new Error(`Tab does not reach ${JSON.stringify(name)}`);
}
