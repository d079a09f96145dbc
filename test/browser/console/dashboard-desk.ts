import { createClickHouse } from '../../../clickhouse/client.ts';
import { storedReferer } from '../../../core/enrich/stored-referer.ts';
import { pickAt } from '../../../core/sample-shop/weighted.ts';
import { seededRandom } from '../../../core/seeded-random.ts';
import { storesOf } from '../../kafka/deployment.ts';
import { storeClicks, storeShares } from '../../support/stored-events.ts';
import type { ConsoleSite } from './console-site.ts';

/** A link of the shop, for filters and expected rows. */
export type ShopLink = { id: string; slug: string };

export type Shop = { links: ShopLink[]; folder: string };

const DAY = 86_400_000;
const LINKS = [
  ['autumn-sale', 'Autumn sale', 'instagram', ['sale', 'autumn']],
  ['newsletter-nov', 'November newsletter', 'newsletter', ['newsletter']],
  ['lamp-video', 'Lamp unboxing', 'youtube', ['video', 'lamps']],
  ['spring-lookbook', 'Spring lookbook', 'pinterest', ['lookbook']],
  ['sale-fb', 'Autumn sale', 'facebook', ['sale', 'autumn']],
  ['poster-berlin', 'Poster in Berlin', 'other', ['print', 'autumn']],
  ['jobs', 'We are hiring', 'linkedin', ['jobs']],
  ['gift-guide', 'Gift guide', 'tiktok', ['sale', 'gifts']],
] as const;

/** Values with their weights: the first of a list is the most frequent. */
const PLACES = [
  ['DE', 'EU', 'DE-BE', 'Berlin', 'de', 34],
  ['US', 'NA', 'US-CA', 'San Francisco', 'en', 22],
  ['FR', 'EU', 'FR-IDF', 'Paris', 'fr', 11],
  ['GB', 'EU', 'GB-ENG', 'London', 'en', 10],
  ['BR', 'SA', 'BR-SP', 'São Paulo', 'pt', 7],
  ['JP', 'AS', 'JP-13', 'Tokyo', 'ja', 5],
  ['IN', 'AS', 'IN-MH', 'Mumbai', 'en', 5],
  ['AU', 'OC', 'AU-NSW', 'Sydney', 'en', 3],
  ['ZA', 'AF', 'ZA-WC', 'Cape Town', 'en', 2],
  ['', '', '', '', '', 1],
] as const;
const AGENTS = [
  ['mobile', 'Mobile Safari', 'iOS', 38],
  ['mobile', 'Chrome Mobile', 'Android', 27],
  ['desktop', 'Chrome', 'Windows', 20],
  ['desktop', 'Safari', 'macOS', 9],
  ['desktop', 'Firefox', 'Linux', 4],
  ['tablet', 'Mobile Safari', 'iOS', 2],
] as const;
const REFERRERS = [
  ['l.instagram.com', 30],
  ['', 26],
  ['m.facebook.com', 16],
  ['www.youtube.com', 12],
  ['t.co', 8],
  ['duckduckgo.com', 5],
  ['news.ycombinator.com', 3],
] as const;

/** Links that the shop advertises, with the network. */
const ADS: Record<string, string> = {
  'autumn-sale': 'meta',
  'sale-fb': 'meta',
  'gift-guide': 'tiktok',
  'lamp-video': 'google',
};

/** Windows of the tests that end now, and how long a test may take. Milliseconds. */
const WINDOW = 30 * DAY;
const TEST_TIME = 3_600_000;

/**
 * Moves a time from where a window may begin to before it: the page and the test read their windows one after the
 * other, and must count the same.
 */
const beforeWindows = (at: number, now: number): number =>
  at > now - WINDOW - 60_000 && at < now - WINDOW + TEST_TIME ? at - TEST_TIME - 60_000 : at;

/**
 * Fills a workspace with links, and with clicks, leads and orders of the last 60 days.
 *
 * @param given.suffix of the slugs, which are unique in a service that several files share
 */
export async function fillShop(
  site: ConsoleSite,
  { clicks, orders, leads, suffix = '' }: { clicks: number; orders: number; leads: number; suffix?: string },
): Promise<Shop> {
  const workspaceId = site.service.demo?.workspace_id ?? '';
  const { id: folder } = await site.api<{ id: string }>('/folders', { name: 'Autumn 2026' });
  const links: ShopLink[] = [];
  for (const [slug, name, channel, tags] of LINKS) {
    const made = await site.api<{ links: ShopLink[] }>('/links', {
      destination_url: `https://shop.example/${slug}`,
      name,
      channel,
      slug: `${slug}${suffix}`,
      tags,
      ...(tags.includes('autumn' as never) && { folder_id: folder }),
    });
    links.push(...made.links);
  }
  const random = seededRandom(7);
  const now = Date.now();
  const clickhouse = createClickHouse({ url: storesOf(site.dataDir).clickhouseUrl, database: 'hoplog' });
  try {
    const made = Array.from({ length: clicks }, () => {
      // More clicks lately, and in the evenings.
      const age = 60 * random() ** 1.35;
      const day = new Date(now - age * DAY);
      const hour = Math.floor(24 * Math.sqrt(random()));
      const past = Math.min(day.setUTCHours(hour, Math.floor(60 * random())), now - 60_000 * (1 + random()));
      const at = beforeWindows(past, now);
      const nth = Math.floor(LINKS.length * random() ** 1.7);
      const [slug, name, channel] = LINKS[nth] ?? LINKS[0];
      const [country, continent, region, city, language] = pickAt(PLACES, random());
      const [device, browser, os] = pickAt(AGENTS, random());
      const [host] = pickAt(REFERRERS, random());
      const from = storedReferer(host === '' ? '' : `https://${host}/`);
      const medium = channel === 'newsletter' ? 'email' : 'social';
      return {
        workspaceId,
        tsNanos: BigInt(Math.floor(at)) * 1_000_000n + BigInt(Math.floor(random() * 999_000)) * 1_000n,
        linkId: links[nth]?.id ?? '',
        channel,
        country,
        city,
        browser,
        os,
        columns: {
          continent,
          region,
          language,
          device,
          slug,
          referer_host: host,
          source: from.source,
          source_kind: from.sourceKind,
          utm_source: channel,
          utm_medium: medium,
          utm_campaign: name.toLowerCase().replaceAll(' ', '-'),
          ad_network: ADS[slug] ?? '',
          trigger: slug === 'poster-berlin' ? 'qr' : 'link',
          domain: nth % 3 === 0 ? 'go.shop.example' : '',
        },
      };
    });
    for (let from = 0; from < made.length; from += 50_000) {
      const chunk = made.slice(from, from + 50_000);
      for (const month of new Set(chunk.map(({ tsNanos }) => monthOf(tsNanos)))) {
        await storeClicks(
          { clickhouse },
          chunk.filter(({ tsNanos }) => monthOf(tsNanos) === month),
        );
      }
    }
    const credited = Array.from({ length: orders + leads }, (_, n) => {
      const click = made[Math.floor(made.length * random())] ?? made[0];
      if (!click) throw new Error('a shop with orders needs clicks');
      const isLead = n >= orders;
      return {
        workspaceId,
        orderId: isLead ? String(n) : `order-${n}`,
        tsNanos: click.tsNanos + BigInt(Math.floor(random() * 3_000)) * 1_000_000n,
        firstChannel: click.channel,
        parts: [
          {
            linkId: click.linkId,
            channel: click.channel,
            share: isLead ? 0 : 1,
            lead: isLead ? 1 : 0,
            amountMinor: isLead ? 0 : 1_900 + Math.floor(random() * 12_000),
            columns: {
              country: click.country,
              city: click.city,
              browser: click.browser,
              os: click.os,
              ...click.columns,
            },
          },
        ],
      };
    });
    await storeShares({ clickhouse }, credited);
  } finally {
    await clickhouse.close();
  }
  return { links, folder };
}

const monthOf = (nanos: bigint) => new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 7);
