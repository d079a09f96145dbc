import type { PictureFormat } from '../../core/bio/pictures.ts';
import type { AssetType } from '../../core/referrals/assets.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** What an asset has besides its name: one of these. */
export type AssetContent =
  | { type: 'image'; pictureName: string }
  | { type: 'text'; text: string }
  | { type: 'link'; url: string };

export type NewAsset = {
  id: string;
  workspaceId: string;
  programId: string;
  name: string;
  content: AssetContent;
  now: Date;
};

/** Stores an asset. The workspace has the program, and {@link touchPictures} has kept the picture. */
export async function insertAsset(tx: Queryable, { content, ...given }: NewAsset): Promise<void> {
  await tx.query(
    `INSERT INTO assets (id, workspace_id, program_id, type, name, picture_name, text, url, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      given.id,
      given.workspaceId,
      given.programId,
      content.type,
      given.name,
      content.type === 'image' ? content.pictureName : null,
      content.type === 'text' ? content.text : null,
      content.type === 'link' ? content.url : null,
      given.now,
    ],
  );
}

/** Returns how many assets a program has. */
export async function countAssets(tx: Queryable, programId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM assets WHERE program_id = $1',
    [programId],
  );
  return rows[0]?.count ?? 0;
}

/** An asset as it is listed. */
export type ListedAsset = {
  /** Also the cursor of the list, newest first. */
  id: string;
  program_id: string;
  type: AssetType;
  name: string;
  text: string | null;
  url: string | null;
  picture: { name: string; width: number; height: number; bytes: number } | null;
  /** ISO 8601 with microseconds. */
  created_at: string;
};

export type AssetFilter = {
  id: string | null;
  programId: string | null;
  type: AssetType | null;
  /** An asset's id: only older ones. */
  before: string | null;
  limit: number;
};

/** Returns the assets of a workspace, newest first. */
export async function listAssets(
  db: Queryable,
  workspaceId: string,
  { id, programId, type, before, limit }: AssetFilter,
): Promise<ListedAsset[]> {
  const { rows } = await db.query<ListedAsset>(
    `SELECT a.id, a.program_id, a.type, a.name, a.text, a.url, ${isoMicros('a.created_at')} AS created_at,
       CASE WHEN p.name IS NOT NULL THEN json_build_object('name', p.name, 'width', p.width, 'height', p.height,
         'bytes', octet_length(p.content)) END AS picture
     FROM assets a LEFT JOIN pictures p ON p.workspace_id = a.workspace_id AND p.name = a.picture_name
     WHERE a.workspace_id = $1 AND ($2::uuid IS NULL OR a.id = $2) AND ($3::uuid IS NULL OR a.program_id = $3)
       AND ($4::text IS NULL OR a.type = $4) AND ($5::uuid IS NULL OR a.id < $5)
     ORDER BY a.id DESC LIMIT $6`,
    [workspaceId, id, programId, type, before, limit],
  );
  return rows;
}

/** Deletes an asset of the workspace. Returns false when there is none. */
export async function deleteAsset(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('DELETE FROM assets WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    id,
  ]);
  return rowCount === 1;
}

/** The picture of an asset, without its bytes. */
export type AssetPicture = { asset: string; name: string; format: PictureFormat };

/** Returns the picture of an asset of the program; null: the program has no such image. */
export async function assetPicture(
  db: Queryable,
  programId: string,
  id: string,
): Promise<AssetPicture | null> {
  const { rows } = await db.query<AssetPicture>(
    `SELECT a.name AS asset, p.name, p.format
     FROM assets a JOIN pictures p ON p.workspace_id = a.workspace_id AND p.name = a.picture_name
     WHERE a.program_id = $1 AND a.id = $2`,
    [programId, id],
  );
  return rows[0] ?? null;
}
