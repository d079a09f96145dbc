import fc from 'fast-check';
import type { TestApi, TestWorkspace } from '../support/api.ts';

/** A link as an import makes it: with everything that a link can have. */
type AnyLink = Record<string, unknown> & { slug: string; isDeleted: boolean };

const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map((one) => `x${one.replace(/[\p{C}\s]/gu, '')}`);
const url = fc.webPath().map((path) => `https://shop.example${path}`);
const instant = fc
  .date({ min: new Date('2027-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

const anyLink: fc.Arbitrary<AnyLink> = fc.record({
  destination_url: url,
  name: text,
  channel: fc.constantFrom('reddit', 'newsletter', 'smart'),
  slug: fc.stringMatching(/^[A-Za-z0-9]{6,12}$/),
  external: fc.constant(true),
  tags: fc.array(text, { maxLength: 3 }),
  metadata: maybe(fc.record({ any: fc.jsonValue({ maxDepth: 2 }) })),
  password: maybe(fc.constant('open sesame')),
  expires_at: maybe(instant),
  max_clicks: maybe(fc.integer({ min: 1, max: 1_000 })),
  targeting: maybe(fc.record({ mobile: url })),
  rules: maybe(
    fc.constant([
      {
        id: 'de',
        conditions: [{ type: 'country', operator: 'is', values: ['DE'] }],
        destination_url: 'https://shop.example/de',
      },
    ]),
  ),
  split: maybe(
    fc.constant([
      { id: 'a', destination_url: 'https://shop.example/a', weight: 30 },
      { id: 'b', destination_url: 'https://shop.example/b', weight: 70 },
    ]),
  ),
  preview: maybe(fc.record({ title: text })),
  forward_path: fc.boolean(),
  utm_campaign: maybe(fc.stringMatching(/^[a-z]{1,10}$/)),
  isDeleted: fc.boolean(),
}) as fc.Arbitrary<AnyLink>;

/** Generates links. */
export const anyLinks = fc.uniqueArray(anyLink, {
  maxLength: 12,
  selector: ({ slug }) => slug.toLowerCase(),
});

/** Makes links over the API, one with a slug that only imports make, and returns their ids. */
export async function plantLinks(shop: TestWorkspace, links: readonly AnyLink[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { isDeleted, channel, ...link } of links) {
    const place = channel === 'smart' ? { smart: true } : { channel };
    const made = await shop.post<{ links: { id: string }[] }>('/links', { ...link, ...place });
    const id = made.body.links?.[0]?.id;
    if (id === undefined) throw new Error(`${made.text}: ${JSON.stringify(link)}`);
    ids.push(id);
    if (isDeleted) await shop.delete(`/links/${id}`);
  }
  const rows = 'slug,destination_url,name\nguide/Menü,https://shop.example/menu,Menu\n';
  const imported = await shop.post('/links/import', { text: rows });
  if (imported.status !== 200) throw new Error(imported.text);
  return ids;
}

/** Stores clicks of these links over several months, some imported, with shares of an order. */
export async function plantClicks(
  api: TestApi,
  workspaceId: string,
  links: readonly string[],
): Promise<void> {
  const { clickhouse } = api.stores;
  const first = Date.parse('2025-11-29T00:00:00Z');
  const clicks = links.flatMap((link_id, link) =>
    Array.from({ length: 40 }, (_, n) => ({
      workspace_id: workspaceId,
      ts: new Date(first + n * 86_400_000 + link * 1_000)
        .toISOString()
        .replace('T', ' ')
        .replace('Z', '000001'),
      link_id,
      visitor_id: crypto.randomUUID(),
      channel: 'reddit',
      country: n % 2 === 0 ? 'DE' : 'AT',
      referer: n % 3 === 0 ? 'https://news.example/ä?\u0001' : '',
      is_bot: n % 7 === 0,
      sequence: link * 100 + n,
      trigger: n % 5 === 0 ? 'qr' : 'link',
      import_id:
        n % 4 === 0 ? '0198f000-0000-7000-8000-000000000009' : '00000000-0000-0000-0000-000000000000',
      extra_clicks: n % 8 === 0 ? 4 : 0,
    })),
  );
  if (clicks.length > 0) await clickhouse.insert({ table: 'clicks', values: clicks, format: 'JSONEachRow' });
  const shares = links.slice(0, 1).map((link_id) => ({
    workspace_id: workspaceId,
    ts: '2025-12-01 10:00:00.000000001',
    order_id: 'lead:1',
    version: 1,
    part: 0,
    link_id,
    share: 0,
    lead: 1,
    channel: 'reddit',
    first_bio_links: [link_id],
  }));
  if (shares.length > 0)
    await clickhouse.insert({ table: 'attributed_shares', values: shares, format: 'JSONEachRow' });
}
