import { seededRandom } from '../seeded-random.ts';
import {
  SAMPLE_ANNOTATIONS,
  SAMPLE_BIO_PAGE,
  SAMPLE_LINKS,
  SAMPLE_REFERRERS,
  type SampleLink,
} from './catalog.ts';
import { pickAt } from './weighted.ts';

/** Days that the sample shop's history goes back, today included. */
export const SAMPLE_DAYS = 60;
const DAY = 86_400_000;
const HOUR = 3_600_000;
const SEED = 20_261_129;
/** Clicks of a mean day. */
const MEAN = 130;

type Row = readonly [string, string, string, number];

/** Country, region, city. */
const PLACES: readonly [Row, ...Row[]] = [
  ['DE', 'DE-BE', 'Berlin', 30],
  ['US', 'US-CA', 'San Francisco', 17],
  ['US', 'US-NY', 'New York', 9],
  ['FR', 'FR-IDF', 'Paris', 9],
  ['GB', 'GB-ENG', 'London', 9],
  ['AT', 'AT-9', 'Vienna', 6],
  ['CH', 'CH-ZH', 'Zurich', 5],
  ['BR', 'BR-SP', 'São Paulo', 4],
  ['JP', 'JP-13', 'Tokyo', 4],
  ['IN', 'IN-MH', 'Mumbai', 3],
  ['AU', 'AU-NSW', 'Sydney', 2],
  ['ZA', 'ZA-WC', 'Cape Town', 1],
];
/** Device, browser, system. */
const AGENTS: readonly [Row, ...Row[]] = [
  ['mobile', 'Mobile Safari', 'iOS', 38],
  ['mobile', 'Chrome Mobile', 'Android', 27],
  ['desktop', 'Chrome', 'Windows', 20],
  ['desktop', 'Safari', 'macOS', 9],
  ['desktop', 'Firefox', 'Linux', 4],
  ['tablet', 'Mobile Safari', 'iOS', 2],
];
/** Referers of a channel's clicks. A letter, a chat, and a poster send none. */
const REFERERS: Record<string, string> = {
  instagram: 'https://l.instagram.com/',
  facebook: 'https://m.facebook.com/',
  youtube: 'https://www.youtube.com/',
  pinterest: 'https://www.pinterest.com/',
  tiktok: 'https://www.tiktok.com/',
  twitter: 'https://t.co/',
  linkedin: 'https://www.linkedin.com/',
};
/** Clicks of all buttons of the bio page on a mean day. */
const BIO_MEAN = 9;
/** Prices in the shop, in cents. */
const PRICES = [1_450, 1_900, 2_400, 3_200, 4_900, 6_800] as const;

/** A click of the history. */
type Click = { at: number; link: SampleLink; visitor: string; columns: readonly string[] };

/** A purchase by a customer whom a referrer brought. */
export type ReferredPurchase = { orderId: string; customer: string; at: Date; amount: number };
export type ReferredCustomer = { id: string; email: string; referrer: string; at: Date };

export type SampleHistory = {
  /** Bodies of `POST /clicks/import`, and of the same with `content=orders`: CSV. */
  clicks: string;
  orders: string;
  customers: ReferredCustomer[];
  purchases: ReferredPurchase[];
  /** Bodies of `POST /annotations`. */
  annotations: { at: string; text: string }[];
};

const csvOf = (names: string, rows: readonly (readonly string[])[]): string =>
  [names, ...rows.map((values) => values.join(','))].join('\n');

/** Clicks of a day: they grow, weekends are quieter, and the newsletters of two days stand out. */
function clicksOn(day: number, weekday: number): number {
  const growth = 0.7 + (0.6 * day) / SAMPLE_DAYS;
  const weekend = weekday === 0 || weekday === 6 ? 0.72 : 1;
  const letter = day === 24 || day === 52 ? 1.75 : 1;
  return MEAN * growth * weekend * letter;
}

/**
 * Returns the history of the sample shop up to `now`. It is the same for a day at any time and on any machine.
 *
 * @param now milliseconds since the epoch
 * @param slugOf returns the slug that a link got
 * @param codeOf returns the slug of a referrer's link
 * @param buttons the slugs of the bio page's buttons
 */
export function sampleHistory(
  now: number,
  slugOf: (link: SampleLink) => string,
  codeOf: (referrer: string) => string,
  buttons: readonly string[],
): SampleHistory {
  const random = seededRandom(SEED);
  const today = Math.floor(now / DAY) * DAY;
  const clicks: Click[] = [];
  const orders: string[][] = [];
  for (let day = 0; day < SAMPLE_DAYS; day++) {
    const start = today - (SAMPLE_DAYS - 1 - day) * DAY;
    const count = Math.round(clicksOn(day, new Date(start).getUTCDay()) * (0.92 + 0.16 * random()));
    for (let nth = 0; nth < count; nth++) {
      // Quiet at night, most in the evening.
      const at = start + Math.floor(24 * HOUR * random() ** 0.7);
      const link = linkAt(random());
      const [country, region, city] = pickAt(PLACES, random());
      const [device, browser, os] = pickAt(AGENTS, random());
      // A fifth of the clicks are of a visitor who was here before.
      const former = random() < 0.2 ? clicks[Math.floor(clicks.length * random())] : undefined;
      const visitor = former?.visitor ?? `v${day}-${nth}`;
      const columns = former?.columns ?? [country, region, city, device, browser, os];
      clicks.push({ at, link, visitor, columns });
      const [buys, wait, price] = [random(), random(), random()];
      if (buys < link.buyers / 1_000) {
        const bought = new Date(at + 2 * 60_000 + wait * HOUR);
        const amount = PRICES[Math.floor(PRICES.length * price)] ?? PRICES[0];
        orders.push([bought.toISOString(), `S-${1_000 + orders.length}`, (amount / 100).toFixed(2), visitor]);
      }
    }
  }
  const referred = referrals(today);
  return {
    clicks: csvOf('ts,slug,visitor,country,region,city,device,browser,os,referer,trigger', [
      ...clicks
        .filter(({ at }) => at < now)
        .map(({ at, link, visitor, columns }) => [
          new Date(at).toISOString(),
          slugOf(link),
          visitor,
          ...columns,
          REFERERS[link.channel] ?? '',
          link.tags.includes('print') ? 'qr' : 'link',
        ]),
      ...referralClicks(referred.customers, codeOf),
      ...buttonClicks(now, today, buttons),
    ]),
    orders: csvOf(
      'ts,order_id,amount,visitor',
      orders.filter(([ts]) => Date.parse(ts ?? '') < now),
    ),
    ...referred,
    annotations: SAMPLE_ANNOTATIONS.map(({ day, text }) => ({
      at: new Date(today - (SAMPLE_DAYS - 1 - day) * DAY + 10 * HOUR).toISOString(),
      text,
    })),
  };
}

function linkAt(at: number): SampleLink {
  const [first, ...others] = SAMPLE_LINKS;
  const weighed = (link: SampleLink): readonly [SampleLink, number] => [link, link.weight];
  return pickAt([weighed(first), ...others.map(weighed)], at)[0];
}

/** Customers of the referrers with their purchases: each signed up some days ago, and most bought again. */
function referrals(today: number): Pick<SampleHistory, 'customers' | 'purchases'> {
  const random = seededRandom(SEED + 1);
  const customers: ReferredCustomer[] = [];
  const purchases: ReferredPurchase[] = [];
  for (const [referrer, , count] of SAMPLE_REFERRERS) {
    for (let nth = 1; nth <= count; nth++) {
      const id = `${referrer}-friend-${nth}`;
      const signedUp = today - Math.floor(3 + 54 * random()) * DAY + 10 * HOUR;
      customers.push({ id, email: `${id}@mail.example`, referrer, at: new Date(signedUp) });
      for (let at = signedUp + HOUR; at < today; at += (12 + 10 * random()) * DAY) {
        const amount = (PRICES[Math.floor(PRICES.length * random())] ?? PRICES[0]) / 100;
        purchases.push({ orderId: `F-${2_000 + purchases.length}`, customer: id, at: new Date(at), amount });
      }
    }
  }
  return { customers, purchases };
}

/** Clicks of the referrers' links: each customer's own before the signup, and those of people who did not sign up. */
function referralClicks(
  customers: readonly ReferredCustomer[],
  codeOf: (referrer: string) => string,
): string[][] {
  const random = seededRandom(SEED + 2);
  return customers.flatMap(({ id, referrer, at }) =>
    Array.from({ length: 4 + Math.floor(6 * random()) }, (_, nth) => {
      const before = nth === 0 ? HOUR * random() : 2 * DAY * random();
      const [country, region, city] = pickAt(PLACES, random());
      const [device, browser, os] = pickAt(AGENTS, random());
      const clicked = new Date(at.getTime() - Math.floor(before)).toISOString();
      const visitor = `${id}-${nth}`;
      return [clicked, codeOf(referrer), visitor, country, region, city, device, browser, os, '', 'link'];
    }),
  );
}

/** Clicks of the bio page's buttons: the first has most of them. They come from the profile that links to the page. */
function buttonClicks(now: number, today: number, buttons: readonly string[]): string[][] {
  const random = seededRandom(SEED + 3);
  const [profile = ''] = SAMPLE_BIO_PAGE.social_links.map(({ url }) => url);
  return Array.from({ length: SAMPLE_DAYS }, (_, day) => {
    const start = today - (SAMPLE_DAYS - 1 - day) * DAY;
    const count = Math.round((clicksOn(day, new Date(start).getUTCDay()) * BIO_MEAN) / MEAN);
    return Array.from({ length: count }, (_, nth) => {
      const at = start + Math.floor(24 * HOUR * random() ** 0.7);
      const slug = buttons[Math.floor(buttons.length * random() ** 1.6)] ?? '';
      const [country, region, city] = pickAt(PLACES, random());
      const [device, browser, os] = pickAt(AGENTS, random());
      const row = [slug, `bio-${day}-${nth}`, country, region, city, device, browser, os, profile, 'link'];
      return { at, row };
    });
  })
    .flat()
    .filter(({ at }) => at < now)
    .map(({ at, row }) => [new Date(at).toISOString(), ...row]);
}
