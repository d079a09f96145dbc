import { describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../clickhouse/client.ts';
import { clickBlock } from '../../clickhouse/inserts/clicks.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { clickKey } from '../../core/events/click-reader.ts';
import { uuidToBytes, uuidv7 } from '../../core/ids.ts';
import { storesOf } from '../kafka/deployment.ts';
import { enrichedClick } from '../support/enriched-click.ts';
import { type ServedWorkspace, servedWorkspace } from '../support/shared-service.ts';
import { inChromium } from './in-chromium.ts';
import { openLink } from './open-link.ts';
import {
  addressOf,
  allCookies,
  arrived,
  callOf,
  cookies,
  nextOrder,
  open,
  pixelDesk,
  VID,
} from './pixel-desk.ts';

const desk = pixelDesk();
let neighbor: ServedWorkspace;
let clickhouse: ClickHouseClient;

inChromium(async () => {
  neighbor = await servedWorkspace();
  clickhouse = createClickHouse({ url: storesOf(neighbor.dataDir).clickhouseUrl, database: 'hoplog' });
  return async () => {
    await clickhouse.close();
    await neighbor.close();
  };
});

async function linkTo(url: string, channel: string, of: ServedWorkspace): Promise<string> {
  const response = await fetch(`${of.service.api_url}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.service.demo.secret_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ destination_url: url, name: 'Spring', channel }),
  });
  const { links } = (await response.json()) as { links: { short_url: string }[] };
  return links[0]?.short_url ?? '';
}

/** Conversions by channel. */
async function conversions(of: ServedWorkspace): Promise<Record<string, number>> {
  const response = await fetch(`${of.service.api_url}/channels`, {
    headers: { authorization: `Bearer ${of.service.demo.secret_key}` },
  });
  const { channels } = (await response.json()) as { channels: { channel: string; conversions: number }[] };
  return Object.fromEntries(channels.map((row) => [row.channel, row.conversions]));
}

describe('a browser with several ids', () => {
  test('whose short host lost its cookie between two clicks is credited to the last', async () => {
    const shop = desk.origin + desk.site.put('two-clicks', `<title>Shop</title>${desk.tag}`);
    const first = await linkTo(shop, 'newsletter', desk.served);
    const second = await linkTo(shop, 'youtube', desk.served);
    await openLink(desk.page, first);
    await desk.page.waitForFunction("document.cookie.includes('_vid=')");
    const { _vid: older } = await cookies(desk);
    await desk.context.clearCookies({ domain: '127.0.0.1' });
    await openLink(desk.page, second);
    await desk.page.waitForFunction("document.cookie.includes('_vids=')");
    const { _vid: newer, _vids } = await cookies(desk);
    expect([newer === older, _vids]).toEqual([false, older]);
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId));
    expect(await arrived(orderId, desk.served)).toMatchObject({
      visitor_id: newer,
      other_visitor_ids: [older],
    });
    await expect.poll(() => conversions(desk.served)).toMatchObject({ newsletter: 0, youtube: 1 });
  });

  test('because two shops share its domain is credited in each to its own click', async () => {
    const shops = [
      { of: desk.served, host: 'shop-a.plat.localhost', channel: 'tiktok' },
      { of: neighbor, host: 'shop-b.plat.localhost', channel: 'facebook' },
    ];
    for (const { of, host, channel } of shops) {
      const path = desk.site.put(host, `<title>Shop</title><script async src="${addressOf(of)}"></script>`);
      await openLink(desk.page, await linkTo(`http://${host}:${desk.site.port}${path}`, channel, of));
      await desk.page.waitForFunction("window.hoplog && document.cookie.includes('_vid=')");
    }
    for (const { of, host, channel } of shops) {
      const orderId = nextOrder();
      await desk.page.goto(`http://${host}:${desk.site.port}/${host}`);
      await desk.page.waitForFunction('window.hoplog');
      await desk.page.evaluate(callOf(orderId));
      await arrived(orderId, of);
      await expect.poll(() => conversions(of)).toMatchObject({ [channel]: 1 });
    }
  });

  test('keeps another tool’s `_vid`, and sends its own', async () => {
    await desk.context.addCookies([{ name: '_vid', value: 'theirs', url: desk.origin }]);
    await open(desk, desk.tag, {}, `?_vid=${VID(1)}`);
    await expect.poll(() => cookies(desk)).toEqual({ _vid: 'theirs', _vids: VID(1) });
  });
});

describe('an address that was copied after the click', () => {
  /** Stores a click of a visitor some minutes ago, and returns the visitor. */
  async function clicked(minutesAgo: number): Promise<string> {
    const visitor = uuidv7();
    const event = clickKey({
      ts: (Date.now() - minutesAgo * 60_000) * 1_000,
      workspaceId: uuidToBytes(desk.served.service.demo.workspace_id),
      linkId: uuidToBytes(uuidv7()),
      visitorId: uuidToBytes(visitor),
    });
    const row = { event, enriched: enrichedClick(), ordinal: 999, sequence: 0n };
    await insertBlock(clickhouse, { table: 'clicks', block: clickBlock([row]), token: visitor });
    return visitor;
  }

  test.each([
    [35, false],
    [25, true],
  ])('and is opened %i minutes after it: the buyer is the visitor: %s', async (minutes, isVisitor) => {
    const visitor = await clicked(minutes);
    await open(desk, desk.tag, {}, `?_vid=${visitor}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor()');
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId, ", email: 'friend@shop.example'"));
    expect(await arrived(orderId, desk.served)).toMatchObject({
      visitor_id: isVisitor ? visitor : null,
      email: 'friend@shop.example',
    });
  });

  test('stays the visitor’s own in the browser that clicked, however late it buys or opens it again', async () => {
    const visitor = await clicked(50);
    await desk.page.clock.install({ time: Date.now() - 49 * 60_000 });
    await open(desk, desk.tag, {}, `?_vid=${visitor}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor()');
    await desk.page.clock.setSystemTime(Date.now());
    await open(desk, desk.tag, {}, `?_vid=${visitor}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor()');
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId));
    expect(await arrived(orderId, desk.served)).toMatchObject({ visitor_id: visitor });
  });

  test('is dated from the page that was opened, not from a consent that came later', async () => {
    const visitor = await clicked(50);
    await desk.page.clock.install({ time: Date.now() - 49 * 60_000 });
    await open(desk, desk.tag.replace('<script', '<script data-consent="wait"'), {}, `?_vid=${visitor}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor');
    await desk.page.clock.setSystemTime(Date.now());
    await open(desk, desk.tag.replace('<script', '<script data-consent="wait"'));
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor');
    const orderId = nextOrder();
    await desk.page.evaluate(`hoplog.consent(true); ${callOf(orderId)}`);
    expect(await arrived(orderId, desk.served)).toMatchObject({ visitor_id: visitor });
  });
});

test('a page that is left at once keeps its id, and its order arrives', async () => {
  const orderId = nextOrder();
  desk.site.put('next-page', '<title>Next</title>');
  await open(
    desk,
    `${desk.tag.replace('async', '')}<script>${callOf(orderId)}; location.replace('/next-page')</script>`,
    {},
    `?_vid=${VID(7)}`,
  );
  expect(await arrived(orderId, desk.served)).toMatchObject({ visitor_id: VID(7) });
  await desk.page.waitForURL('**/next-page');
  expect(await cookies(desk)).toEqual({ _vid: VID(7) });
});

describe('consent', () => {
  const waiting = () => desk.tag.replace('<script', '<script data-consent="wait"');

  test('is waited for: nothing is sent or stored but the address’s id, then all is', async () => {
    const posted: string[] = [];
    desk.page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await open(desk, waiting(), {}, `?_vid=${VID(3)}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.consent');
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId));
    expect(await desk.page.evaluate('hoplog.visitor()')).toBeNull();
    // The consent comes on another page of the visit.
    await open(desk, waiting());
    await desk.page.waitForFunction('window.hoplog && hoplog.consent');
    await desk.page.evaluate(callOf(orderId));
    expect([posted, await allCookies(desk)]).toEqual([[], {}]);
    expect(await desk.page.evaluate('({ ...sessionStorage })')).toEqual({
      _vid: expect.stringMatching(new RegExp(`^${VID(3)}\\.[0-9a-z]{6}$`)),
    });
    await desk.page.evaluate('hoplog.consent(true)');
    expect(await arrived(orderId, desk.served)).toMatchObject({ visitor_id: VID(3) });
    await expect.poll(() => cookies(desk)).toEqual({ _vid: VID(3) });
    expect(await desk.page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('that is refused removes everything, and nothing is sent', async () => {
    const posted: string[] = [];
    await desk.context.addCookies([
      { name: '_vid', value: VID(4), url: desk.origin },
      { name: '_vids', value: VID(5), url: desk.origin },
    ]);
    desk.page.on('request', (request) => request.method() === 'POST' && posted.push(request.url()));
    await open(desk, waiting(), {}, `?_vid=${VID(3)}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.consent');
    await desk.page.evaluate("sessionStorage.setItem('hoplog_ref', 'via=anna')");
    await desk.page.evaluate(`${callOf(nextOrder())}; hoplog.consent(false); ${callOf(nextOrder())}`);
    expect([posted, await allCookies(desk), await desk.page.evaluate('sessionStorage.length')]).toEqual([
      [],
      {},
      0,
    ]);
  });

  test('under Global Privacy Control no id is kept or sent', async () => {
    await desk.context.addCookies([
      { name: '_vid', value: VID(4), url: desk.origin },
      { name: '_vids', value: VID(5), url: desk.origin },
    ]);
    await desk.page.addInitScript(
      "Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })",
    );
    await open(desk, desk.tag, {}, `?_vid=${VID(3)}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.consent');
    const orderId = nextOrder();
    await desk.page.evaluate(callOf(orderId, ", email: 'a@example.com', external_user_id: 'u'"));
    expect(await arrived(orderId, desk.served)).toMatchObject({
      visitor_id: null,
      other_visitor_ids: [],
      email: null,
      external_user_id: null,
    });
    expect([await allCookies(desk), await desk.page.evaluate('hoplog.visitor()')]).toEqual([{}, null]);
  });
});

describe('the address', () => {
  const tool = `<script>window.views = 0; for (const name of ['pushState', 'replaceState']) { const write = history[name]; history[name] = function () { views++; return write.apply(this, arguments) } }</script>`;

  test('loses the id without a view for tools that count changes of the history', async () => {
    await open(desk, tool + desk.tag, {}, `?a=%7E&_vid=${VID(6)}#x`);
    await desk.page.waitForFunction('window.hoplog');
    expect(await desk.page.evaluate('[views, location.search, location.hash]')).toEqual([0, '?a=%7E', '#x']);
  });

  test('does not get it back by what routers write', async () => {
    await open(desk, desk.tag, {}, `?_vid=${VID(6)}`);
    await desk.page.waitForFunction('window.hoplog');
    await desk.page.evaluate(
      `history.pushState({ a: 1 }, '', '?b=1&_vid=${VID(6)}'); history.replaceState(history.state, '', location.href)`,
    );
    expect(await desk.page.evaluate('[location.search, history.state]')).toEqual(['?b=1', { a: 1 }]);
    await desk.page.evaluate(`history.replaceState(null, '')`);
    expect(await desk.page.evaluate('location.search')).toBe('?b=1');
  });

  test('keeps it with data-keep-address', async () => {
    await open(desk, desk.tag.replace('<script', '<script data-keep-address'), {}, `?_vid=${VID(6)}`);
    await desk.page.waitForFunction('window.hoplog && hoplog.visitor');
    expect(await desk.page.evaluate('[location.search, hoplog.visitor()]')).toEqual([
      `?_vid=${VID(6)}`,
      VID(6),
    ]);
  });
});
