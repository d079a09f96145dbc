import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWeb } from '../../web/build.ts';
import { sharedChromium } from '../browser/chromium.ts';
import { startFrameworkSite } from './site.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';

let site: Awaited<ReturnType<typeof startFrameworkSite>>;
beforeAll(async () => {
  await buildWeb();
  site = await startFrameworkSite();
});
afterAll(() => site.close());

type Router = {
  path: string;
  /** Ready when the router runs. */
  ready: string;
  /** Moves to the other page, by the router. */
  push: string;
  /** Calls after which the router writes the URL that it started with. */
  rewrites: readonly string[];
};

const ROUTERS: Record<string, Router> = {
  'Next App Router': {
    path: '/',
    ready: 'window.router',
    push: `router.push('/other/')`,
    rewrites: ['router.refresh()', `router.replace('/')`, `router.replace(location.pathname + '?tab=1')`],
  },
  'vue-router': {
    path: '/vue/',
    ready: 'window.router && router.currentRoute.value.matched.length',
    push: `router.push('/other/')`,
    rewrites: [
      'router.replace(router.currentRoute.value.fullPath)',
      `router.replace({ query: { ...router.currentRoute.value.query, tab: 1 } })`,
    ],
  },
  'React Router': {
    path: '/react-router/',
    ready: 'window.router && router.state.initialized',
    push: `router.navigate('/other/')`,
    rewrites: [
      'router.revalidate()',
      `router.navigate('/' + router.state.location.search, { replace: true })`,
      `router.navigate('/?tab=1', { replace: true })`,
    ],
  },
  Nuxt: {
    path: '/nuxt/',
    ready: 'window.router && router.currentRoute.value.matched.length',
    push: `router.push('/other/')`,
    rewrites: [
      'router.replace(router.currentRoute.value.fullPath)',
      `router.replace({ query: { ...router.currentRoute.value.query, tab: 1 } })`,
    ],
  },
  SvelteKit: {
    path: '/sveltekit/',
    ready: 'window.router',
    push: `router.goto('/sveltekit/other/')`,
    rewrites: [
      'router.invalidateAll()',
      'router.replace({ a: 1 })',
      'router.goto(router.url(), { replaceState: true })',
    ],
  },
  Turbo: {
    path: '/turbo/',
    ready: 'window.Turbo',
    push: `Turbo.visit('/turbo/other/')`,
    rewrites: [
      `Turbo.visit('/turbo/', { action: 'replace' })`,
      `Turbo.visit(location.href, { action: 'replace' })`,
    ],
  },
};

const shows = (page: Page, heading: string) => page.waitForSelector(`h1:text-is("${heading}")`);

/** The address now, and whether the page has it anywhere in its history state. */
const address = (page: Page) => page.evaluate('location.href');

async function land(page: Page, { path, ready }: Router): Promise<void> {
  await page.goto(`${site.origin}${path}?utm_source=x&_vid=${VID}`);
  await page.waitForFunction(`${ready} && window.hoplog && hoplog.visitor`);
}

describe.each(Object.entries(ROUTERS))('under %s', (_name, router) => {
  // Before the router, as `async` in the head usually is, and after it, as a tag manager adds it.
  describe.each(['first', 'last'])('with the pixel %s', (order) => {
    test('the address loses the id and does not get it back', async () => {
      const context = await (await sharedChromium()).newContext();
      const page = await context.newPage();
      if (order === 'last') {
        // Held back until the router runs.
        await page.route('**/pixel.js*', async (route) => {
          await page.waitForFunction(router.ready);
          await route.continue();
        });
      }
      await land(page, router);
      expect(await page.evaluate('hoplog.visitor()')).toBe(VID);
      const seen = [await address(page)];
      for (const rewrite of router.rewrites) {
        await page.evaluate(`${rewrite}; null`);
        await page.waitForTimeout(500);
        seen.push(await address(page));
      }
      await page.evaluate(`${router.push}; null`);
      await shows(page, 'Other');
      await page.goBack();
      await shows(page, 'Home');
      seen.push(await address(page));
      await page.goForward();
      await shows(page, 'Other');
      await page.goBack();
      await shows(page, 'Home');
      seen.push(await address(page));
      await page.reload();
      await page.waitForFunction(`${router.ready} && window.hoplog && hoplog.visitor`);
      seen.push(await address(page));
      expect(seen.filter((one) => String(one).includes('_vid'))).toEqual([]);
      expect(String(seen[0])).toContain('utm_source=x');
      await context.close();
    });
  });
});
