import type { Queryable } from '../database/pool.ts';
import { DOMAIN_IS_OWN } from '../domains/domains.ts';

/** A stored button or heading. `url` is null for a section and only there. */
export type BioButton = {
  id: string;
  type: 'link' | 'section';
  label: string;
  url: string | null;
  emoji: string | null;
  image_url: string | null;
  /** Null: no short link. */
  link_id: string | null;
};

/** A button with its short link. A deleted short link counts as none. */
export type TrackedButton = BioButton & {
  /** Also null when the workspace has lost the short link's domain. */
  link_slug: string | null;
  /** Null: the deployment's own. */
  link_domain: string | null;
  /** The short link's campaign. */
  destination_id: string | null;
  destination_url: string | null;
};

/** Returns the buttons of these pages in their order, by page. A page without buttons is left out. */
export async function buttonsOfPages(
  db: Queryable,
  workspaceId: string,
  pageIds: string[],
): Promise<Map<string, TrackedButton[]>> {
  const { rows } = await db.query<TrackedButton & { page_id: string }>(
    `SELECT b.page_id, b.id, b.type, b.label, b.url, b.emoji, b.image_url, l.id AS link_id,
       CASE WHEN ${DOMAIN_IS_OWN} THEN l.slug END AS link_slug, o.domain AS link_domain, d.id AS destination_id, d.destination_url
     FROM bio_buttons b
     LEFT JOIN links l ON l.id = b.link_id AND l.deleted_at IS NULL
     LEFT JOIN destinations d ON d.id = l.destination_id
     LEFT JOIN domains o ON o.number = l.domain_number
     WHERE b.workspace_id = $1 AND b.page_id = ANY ($2) ORDER BY b.page_id, b.position`,
    [workspaceId, pageIds],
  );
  const byPage = new Map<string, TrackedButton[]>();
  for (const { page_id, ...button } of rows) {
    const buttons = byPage.get(page_id);
    if (buttons) buttons.push(button);
    else byPage.set(page_id, [button]);
  }
  return byPage;
}

/** Replaces a page's buttons by these, in this order. */
export async function replaceButtons(
  tx: Queryable,
  page: { id: string; workspaceId: string },
  buttons: readonly BioButton[],
): Promise<void> {
  await tx.query('DELETE FROM bio_buttons WHERE page_id = $1 AND workspace_id = $2', [
    page.id,
    page.workspaceId,
  ]);
  if (buttons.length === 0) return;
  await tx.query(
    `INSERT INTO bio_buttons (page_id, workspace_id, position, id, type, label, url, emoji, image_url, link_id)
     SELECT $1, $2, nth, id, type, label, url, emoji, image_url, link_id
     FROM ROWS FROM (json_to_recordset($3) AS (id text, type text, label text, url text, emoji text, image_url text,
       link_id uuid)) WITH ORDINALITY AS given (id, type, label, url, emoji, image_url, link_id, nth)`,
    [page.id, page.workspaceId, JSON.stringify(buttons)],
  );
}

/**
 * Updates the URL of buttons whose short links belong to a campaign, when the campaign's destination changes. Their
 * pages count as changed.
 *
 * @returns whether there was one
 */
export async function updateButtonUrls(
  tx: Queryable,
  workspaceId: string,
  destinationId: string,
  url: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `WITH moved AS (
       UPDATE bio_buttons AS button SET url = $3 FROM links
       WHERE links.destination_id = $2 AND links.workspace_id = $1 AND links.deleted_at IS NULL
         AND button.link_id = links.id AND button.workspace_id = $1 RETURNING button.page_id
     )
     UPDATE bio_pages SET updated_at = GREATEST(clock_timestamp(), created_at)
     WHERE workspace_id = $1 AND id IN (SELECT page_id FROM moved)`,
    [workspaceId, destinationId, url],
  );
  return (rowCount ?? 0) > 0;
}
