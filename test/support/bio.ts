import type { BioPageRecord } from '../../api/bio-pages/schemas.ts';
import type { Answer, TestApi, TestWorkspace } from './api.ts';

/** A page with three buttons and a heading, under this slug. */
export function bioBody(slug: string, more: object = {}): Record<string, unknown> {
  return {
    slug,
    title: 'Ada Lovelace',
    bio: 'Notes on the Analytical Engine',
    links: [
      { id: 'shop', label: 'Shop', url: 'https://shop.example/?a=1', emoji: '🛒' },
      { id: 'head', type: 'section', label: 'Elsewhere' },
      { id: 'blog', label: 'Blog', url: 'http://blog.example' },
      {
        id: 'talk',
        label: 'Talk',
        url: 'https://videos.example/watch',
        image_url: 'https://img.example/t.png',
      },
    ],
    social_links: [{ platform: 'github', url: 'https://github.com/ada' }],
    ...more,
  };
}

/** Creates a page and returns it. @throws Error with the response when it is not 201 */
export async function makeBioPage(
  shop: TestWorkspace,
  slug: string,
  more: object = {},
): Promise<BioPageRecord> {
  const { status, body, text } = await shop.post<BioPageRecord>('/bio-pages', bioBody(slug, more));
  if (status !== 201) throw new Error(`${status}: ${text}`);
  return body;
}

/** Returns the page as the API shows it now. */
export async function bioPage(shop: TestWorkspace, idOrSlug: string): Promise<BioPageRecord> {
  const { status, body, text } = await shop.get<BioPageRecord>(`/bio-pages/${idOrSlug}`);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body;
}

/** Saves a change of a page and returns the page. */
export async function changeBioPage(
  shop: TestWorkspace,
  idOrSlug: string,
  change: object,
): Promise<BioPageRecord> {
  const answer: Answer<BioPageRecord> = await shop.patch(`/bio-pages/${idOrSlug}`, change);
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Returns the short links' ids of a page, by button. */
export function trackedLinks(page: BioPageRecord): Record<string, string | null> {
  return Object.fromEntries(page.links.map((button) => [button.id, button.tracked_link_id]));
}

type ClickColumns = { visitor?: string; ts?: number; is_bot?: boolean; channel?: string };

/** Writes clicks on a link straight into ClickHouse. */
export async function addClicks(
  api: TestApi,
  workspaceId: string,
  linkId: string,
  clicks: ClickColumns[],
): Promise<void> {
  const nanosOf = (millis: number) => new Date(millis).toISOString().replace('T', ' ').replace('Z', '000000');
  await api.stores.clickhouse.insert({
    table: 'clicks',
    format: 'JSONEachRow',
    values: clicks.map(
      ({ visitor = crypto.randomUUID(), ts = Date.now() - 60_000, is_bot = false, channel = 'bio' }, n) => ({
        workspace_id: workspaceId,
        ts: nanosOf(ts + n),
        link_id: linkId,
        visitor_id: visitor,
        channel,
        is_bot,
      }),
    ),
  });
}
