import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type CrawledPage, crawledPage } from '../../test/support/meta-tags.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { CRAWLER, PREVIEW, visit } from '../../test/support/visitors.ts';

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

/** `SHORT_URL` of test support. */
const shortUrl = 'http://short.test';
const DESTINATION = 'https://secret.example/landing?a=1';
const CARD = {
  title: 'Autumn sale: 20% off “everything”',
  description: 'Until Sunday & only here.',
  image_url: 'https://cdn.example/größe/card.png?w=1200&h=630',
};
/** Agents of `crawler-user-agents`. */
const AGENTS = {
  X: 'Twitterbot/1.0',
  Facebook: PREVIEW,
  LinkedIn: 'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  Slack: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  WhatsApp: 'WhatsApp/0.3.4941 N',
  Telegram: 'TelegramBot (like TwitterBot)',
  Discord: 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  Teams: 'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
};

async function link(columns: LinkColumns = {}) {
  const made = await makeLink(stores.pool, workspaceId, DESTINATION, {
    channel: 'facebook',
    preview: CARD,
    ...columns,
  });
  return { ...made, url: `${ingest.url}/${made.slug}` };
}
const shown = (url: string, agent = PREVIEW) => visit(url, { headers: { 'user-agent': agent } });

async function clicksOf(linkId: string): Promise<ClickEvent[]> {
  const events = await ingest.events();
  return events.filter(
    (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === linkId,
  );
}

describe.each(Object.entries(AGENTS))('%s', (_, agent) => {
  test('gets the card and a link to the destination; its click is recorded as before', async () => {
    const { url, id, slug } = await link();
    const answer = await shown(url, agent);
    expect([answer.status, answer.location, answer.cookies]).toEqual([200, null, []]);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { title, tags, links } = crawledPage(answer.body);
    expect(title).toBe(CARD.title);
    expect(tags.get('og:url')).toEqual([`${shortUrl}/${slug}`]);
    expect(links.map((href) => href.split('&_vid=')[0])).toEqual([DESTINATION]);
    expect((await clicksOf(id)).map(({ userAgent, flags }) => [userAgent, flags])).toEqual([[agent, 0]]);
  });
});

/** Returns the only value of a tag. Networks take the first or the last of repeated ones. */
function only({ tags }: CrawledPage, name: string): string | undefined {
  const values = tags.get(name) ?? [];
  expect(values.length, name).toBeLessThanOrEqual(1);
  return values[0];
}

/** Returns what is wrong with a page by the rules that a network publishes. */
type Rules = (page: CrawledPage, html: string) => string[];
const problems = (checks: Record<string, boolean>) => Object.keys(checks).filter((name) => !checks[name]);
const isHttps = (text: string | undefined) => text !== undefined && URL.parse(text)?.protocol === 'https:';
const isGiven = (text: string | undefined) => text !== undefined && text.trim() !== '';

const NETWORK_RULES: Record<string, Rules> = {
  // ogp.me: "The four required properties for every page are: og:title, og:type, og:image, og:url".
  'Open Graph protocol': (page) =>
    problems({
      'og:title': isGiven(only(page, 'og:title')),
      'og:type': only(page, 'og:type') === 'website',
      'og:image': isHttps(only(page, 'og:image')),
      'og:url': URL.canParse(only(page, 'og:url') ?? ''),
    }),
  // developer.x.com/en/docs/x-for-websites/cards/overview/markup: twitter:card is "used with all cards"; "Title of
  // content (max 70 characters)"; "Description of content (maximum 200 characters)"; twitter:image is "URL of image to
  // use in the card".
  X: (page) =>
    problems({
      'twitter:card': ['summary', 'summary_large_image'].includes(only(page, 'twitter:card') ?? ''),
      'twitter:title':
        isGiven(only(page, 'twitter:title')) && (only(page, 'twitter:title') ?? '').length <= 70,
      'twitter:description':
        isGiven(only(page, 'twitter:description')) && (only(page, 'twitter:description') ?? '').length <= 200,
      'twitter:image': isHttps(only(page, 'twitter:image')),
    }),
  // developers.facebook.com/docs/sharing/webmasters: og:url is "the canonical URL for your page. This should be the
  // undecorated URL, without session variables, user identifying parameters, or counters".
  Facebook: (page) =>
    problems({
      'og:url': isGiven(only(page, 'og:url')) && URL.parse(only(page, 'og:url') ?? '')?.search === '',
      'og:title': isGiven(only(page, 'og:title')),
      'og:description': isGiven(only(page, 'og:description')),
      'og:image': isHttps(only(page, 'og:image')),
    }),
  // linkedin.com/help/linkedin/answer/a521928: the source code needs og:title, og:image, og:description and og:url.
  LinkedIn: (page) =>
    problems({
      'og:title': isGiven(only(page, 'og:title')),
      'og:image': isHttps(only(page, 'og:image')),
      'og:description': isGiven(only(page, 'og:description')),
      'og:url': isGiven(only(page, 'og:url')),
    }),
  // api.slack.com/robots: it "fetches as little of the page as it can (using HTTP Range headers) to extract meta tags",
  // 32 KB of it, "oEmbed and Twitter Card / Open Graph tags".
  Slack: (page, html) =>
    problems({
      'tags in the first 32 KB': Buffer.from(html).indexOf('</head>') < 32 * 1_024,
      'og:title': isGiven(only(page, 'og:title')),
      'og:description': isGiven(only(page, 'og:description')),
    }),
  // developers.facebook.com/docs/whatsapp/link-previews: "The <head> containing the HTML mark-ups must appear within
  // the first 300KB of the HTML"; og:title, og:description and og:url "must be inside the <head> tag. They should not
  // be empty"; og:image is "an absolute URL".
  WhatsApp: (page, html) =>
    problems({
      'head in the first 300 KB': Buffer.from(html).indexOf('</head>') < 300 * 1_024,
      'og:title': isGiven(only(page, 'og:title')),
      'og:description': isGiven(only(page, 'og:description')),
      'og:url': isGiven(only(page, 'og:url')),
      'og:image': isHttps(only(page, 'og:image')),
    }),
};

const LONGEST = { ...CARD, title: `${'t'.repeat(69)}😀${'t'.repeat(129)}`, description: 'd'.repeat(500) };

test.each([
  ['a card', CARD],
  ['the longest texts', LONGEST],
  ['an image alone', { image_url: CARD.image_url }],
])('%s passes the published rules of every network', async (_, preview) => {
  const { url } = await link({ preview });
  const { body } = await shown(url);
  const page = crawledPage(body);
  for (const [network, wrong] of Object.entries(NETWORK_RULES))
    expect(wrong(page, body), network).toEqual([]);
  // People see it in tools of the networks: in the layout of the other pages, as wide as their phones.
  expect(body).toContain('<meta name="viewport" content="width=device-width"><style>');
  expect(page.tags.get('twitter:title')?.[0]?.isWellFormed()).toBe(true);
});

test('a card has the size of its image, and no image that networks do not show', async () => {
  const { url } = await link({ preview: { ...CARD, image_width: 1_200, image_height: 630 } });
  const { tags } = crawledPage((await shown(url)).body);
  expect([tags.get('og:image:width'), tags.get('og:image:height')]).toEqual([['1200'], ['630']]);
  const without = crawledPage((await shown((await link()).url)).body);
  expect(without.tags.has('og:image:width')).toBe(false);
  const svg = await link({ preview: { title: 'Drawn', image_url: 'https://img.example/a.SVG?x=1' } });
  const drawn = crawledPage((await shown(svg.url)).body);
  expect([drawn.tags.has('og:image'), drawn.tags.get('twitter:card')]).toEqual([false, ['summary']]);
});

test('a title is cut between what reads as characters', async () => {
  const family = '👨‍👩‍👧‍👦';
  const { url } = await link({ preview: { title: `${'t'.repeat(62)}${family}${'t'.repeat(20)}` } });
  const { tags } = crawledPage((await shown(url)).body);
  expect(tags.get('twitter:title')).toEqual([`${'t'.repeat(62)}…`]);
});

test('a card without image is the small one of X, and a missing text is the short address', async () => {
  const { url, slug } = await link({ preview: { title: 'Only a title' } });
  const { tags } = crawledPage((await shown(url)).body);
  expect(tags.get('twitter:card')).toEqual(['summary']);
  expect(tags.has('og:image')).toBe(false);
  expect(tags.get('og:description')).toEqual([`${new URL(shortUrl).host}/${slug}`]);
});

const HOSTILE = `"><script>alert(1)</script><meta property="og:url" content="https://evil.example"> ' & &amp;`;

test('texts of a card are escaped: a parser reads them as they are, and no element of theirs', async () => {
  const preview = {
    title: HOSTILE,
    description: HOSTILE,
    image_url: `https://cdn.example/"><script>?'&amp;`,
  };
  const { url } = await link({ preview, split: JSON.stringify([]) });
  const { body, headers } = await shown(`${url}?x="><script>`);
  const { title, tags, elements } = crawledPage(body);
  expect(title).toBe(HOSTILE);
  expect([tags.get('og:title'), tags.get('og:description')]).toEqual([[HOSTILE], [HOSTILE]]);
  expect(tags.get('og:url')).toHaveLength(1);
  expect(elements).not.toContain('script');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test.each([CRAWLER, '', 'curl/8.5.0'])('a bot that shows no card (%j) is redirected', async (agent) => {
  const { url } = await link();
  expect((await shown(url, agent)).status).toBe(302);
});

test('people are redirected, also in an app that previews links', async () => {
  const { url } = await link();
  expect((await visit(url)).status).toBe(302);
  const inApp =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29';
  expect((await shown(url, inApp)).status).toBe(302);
});

test('a link without a card redirects the bots of networks', async () => {
  const { url } = await link({ preview: undefined } as LinkColumns);
  expect((await shown(url)).status).toBe(302);
});

test('the card is of the destination that was decided, and comes before the page with pixels', async () => {
  const rules = [
    {
      id: 'bots',
      conditions: [{ type: 'query', name: 'x', operator: 'exists' }],
      destination_url: 'https://secret.example/rule',
    },
  ];
  const { url, id } = await link({ rules: JSON.stringify(rules), retargeting: { facebook: '1234567890' } });
  const { links, elements } = crawledPage((await shown(`${url}?x=1`)).body);
  expect(links[0]).toMatch(/^https:\/\/secret\.example\/rule\?/);
  expect(elements).not.toContain('script');
  expect((await clicksOf(id)).map(({ labels }) => labels.ruleId)).toEqual(['bots']);
});

const hour = 3_600_000;
const password_hash = await hashPassword('open', LINK_COST);

test.each<[string, number, LinkColumns]>([
  ['has expired', 410, { expires_at: new Date(Date.now() - 1) }],
  ['has not started', 404, { starts_at: new Date(Date.now() + hour) }],
  ['asks for a password', 200, { password_hash }],
])('a link that %s shows a bot neither card nor destination', async (_, status, columns) => {
  const { url } = await link(columns);
  const answer = await shown(url);
  expect([answer.status, answer.location]).toEqual([status, null]);
  expect(answer.body).not.toMatch(/secret\.example|og:|twitter:|Autumn/);
});

test('a blocked link and a link of a suspended workspace show a bot neither card nor destination', async () => {
  const blocked = await link();
  await stores.pool.query('UPDATE links SET blocked_at = now() WHERE id = $1', [blocked.id]);
  const other = (await makeWorkspace(stores.pool)).id;
  const suspended = await makeLink(stores.pool, other, DESTINATION, { channel: 'facebook', preview: CARD });
  await stores.pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [other]);
  for (const slug of [blocked.slug, suspended.slug]) {
    await expect.poll(async () => (await shown(`${ingest.url}/${slug}`)).status).toBe(410);
    expect((await shown(`${ingest.url}/${slug}`)).body).not.toMatch(/secret\.example|og:|Autumn/);
  }
});
