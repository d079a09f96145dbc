import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach } from 'vitest';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { until } from '../support/until.ts';
import { sharedChromium } from './chromium.ts';
import { inChromium } from './in-chromium.ts';
import { type PagesSite, startPages } from './pages-site.ts';

const PERSON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
export const VID = (n: number) => `5b104370-c9bd-8db2-8a30-83f8041ed7f${n}`;

/** A shop's pages with the pixel of a workspace, and a browser for each test. */
export type PixelDesk = {
  served: ServedWorkspace;
  site: PagesSite;
  /** Origin of the pages. */
  origin: string;
  /** The element of the pixel, as the documentation writes it. */
  tag: string;
  context: BrowserContext;
  page: Page;
  /** Messages of the console, and errors that the page threw. */
  messages: string[];
};

let pages = 0;
let orders = 0;

/** Registers the hooks that set it up. Call it at the top of a file; its fields are set while tests run. */
export function pixelDesk(): PixelDesk {
  const desk = {} as PixelDesk;
  let browser: Browser;
  inChromium(async () => {
    desk.served = await servedWorkspace();
    desk.site = await startPages(desk.served.service.short_url);
    desk.origin = `http://localhost:${desk.site.port}`;
    desk.tag = `<script async src="${addressOf(desk.served)}"></script>`;
    browser = await sharedChromium();
    return async () => {
      desk.site.close();
      await desk.served.close();
    };
  });
  beforeEach(async () => {
    desk.context = await browser.newContext({ userAgent: PERSON });
    desk.page = await desk.context.newPage();
    const messages: string[] = [];
    desk.messages = messages;
    desk.page.on('console', (message) => messages.push(message.text()));
    desk.page.on('pageerror', (error) => messages.push(`thrown: ${error.message}`));
  });
  afterEach(() => desk.context?.close());
  return desk;
}

/** Returns the address of the pixel with the workspace's key. */
export const addressOf = ({ service }: ServedWorkspace) =>
  `${service.short_url}/pixel.js?key=${service.demo.publishable_key}`;
export const nextOrder = () => `order-${++orders}`;
/** Returns the call of a page. @param more fields, after a comma */
export const callOf = (orderId: string, more = '') =>
  `hoplog.order({ order_id: '${orderId}', amount: 5 ${more} })`;

/** Opens a page of the shop. */
export async function open(
  { page, site, origin }: PixelDesk,
  html: string,
  headers: Record<string, string> = {},
  query = '',
): Promise<void> {
  const content = { html: `<!doctype html><title>Shop</title>${html}`, headers };
  await page.goto(origin + site.put(`page-${++pages}`, content) + query);
}

/** Returns an order once it has arrived in the workspace. */
export async function arrived(orderId: string, { pool, service }: ServedWorkspace): Promise<object> {
  const read = async (): Promise<object | null> => {
    const { rows } = await pool.query<object>(
      'SELECT * FROM orders WHERE workspace_id = $1 AND order_id = $2',
      [service.demo.workspace_id, orderId],
    );
    return rows[0] ?? null;
  };
  return until(`order ${orderId}`, read, (order) => order !== null);
}

/** Returns the cookies of the page, without the times of ids. */
export async function cookies(desk: PixelDesk): Promise<Record<string, string>> {
  const { _vidt: _, ...others } = await allCookies(desk);
  return others;
}

export async function allCookies({ context, page }: PixelDesk): Promise<Record<string, string>> {
  return Object.fromEntries((await context.cookies(page.url())).map(({ name, value }) => [name, value]));
}
