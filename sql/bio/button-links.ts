import type { Queryable } from '../database/pool.ts';

/**
 * Every short link that each button of a page ever had: their clicks are the button's history. A trigger inserts a
 * row for each link that a button gets.
 */

type PageKey = { id: string; workspaceId: string };

/** A button's short link that its page has deleted and may restore, with its campaign. */
export type LinkSetAside = { link_id: string; destination_id: string; destination_url: string };

/** Returns all links that each button of a page ever had, by button. */
export async function linksOfButtons(db: Queryable, page: PageKey): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ button_id: string; links: string[] }>(
    `SELECT button_id, array_agg(link_id) AS links FROM bio_button_links
     WHERE page_id = $1 AND workspace_id = $2 GROUP BY button_id`,
    [page.id, page.workspaceId],
  );
  return new Map(rows.map((row) => [row.button_id, row.links]));
}

/** Returns the links of a page that may be restored, by button. Those of a domain that was removed or lost may not. */
export async function linksSetAside(db: Queryable, page: PageKey): Promise<Map<string, LinkSetAside>> {
  const { rows } = await db.query<LinkSetAside & { button_id: string }>(
    `SELECT own.button_id, own.link_id, d.id AS destination_id, d.destination_url
     FROM bio_button_links own JOIN links l ON l.id = own.link_id JOIN destinations d ON d.id = l.destination_id
     WHERE own.page_id = $1 AND own.workspace_id = $2 AND own.set_aside
       AND (l.domain_number = 0 OR EXISTS (
         SELECT FROM domains WHERE number = l.domain_number AND status <> 'pending'))
     ORDER BY own.link_id`,
    [page.id, page.workspaceId],
  );
  return new Map(rows.map(({ button_id, ...link }) => [button_id, link]));
}

/** Records whether a button's link is deleted by its page and may be restored. */
export async function markSetAside(
  tx: Queryable,
  workspaceId: string,
  linkId: string,
  isSetAside: boolean,
): Promise<void> {
  await tx.query('UPDATE bio_button_links SET set_aside = $3 WHERE link_id = $1 AND workspace_id = $2', [
    linkId,
    workspaceId,
    isSetAside,
  ]);
}

/**
 * Deletes the button links of all buttons of a page but these.
 *
 * @returns the links, whose history must be erased
 */
export async function deleteLinksOfOtherButtons(
  tx: Queryable,
  page: PageKey,
  buttonIds: readonly string[],
): Promise<string[]> {
  const { rows } = await tx.query<{ link_id: string }>(
    `DELETE FROM bio_button_links WHERE page_id = $1 AND workspace_id = $2 AND button_id <> ALL ($3)
     RETURNING link_id`,
    [page.id, page.workspaceId, buttonIds],
  );
  return rows.map((row) => row.link_id);
}

/**
 * Deletes every button link of a page, also those of unknown buttons.
 *
 * @returns the links, whose history must be erased
 */
export async function deleteLinksOfPage(tx: Queryable, page: PageKey): Promise<string[]> {
  const { rows } = await tx.query<{ link_id: string }>(
    'DELETE FROM bio_button_links WHERE page_id = $1 AND workspace_id = $2 RETURNING link_id',
    [page.id, page.workspaceId],
  );
  return rows.map((row) => row.link_id);
}
