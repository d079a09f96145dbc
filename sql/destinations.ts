import { uuidv7 } from '../core/ids.ts';
import type { Queryable } from './pool.ts';

/** A campaign: a destination and a name, which its links share. */
export type Destination = {
  id: string;
  workspace_id: string;
  name: string;
  destination_url: string;
  /** On a platform that the workspace does not own. */
  external: boolean;
  tags: string[];
  folder_id: string | null;
};

const COLUMNS = 'id, workspace_id, name, destination_url, external, tags, folder_id';

export type NewDestination = Omit<Destination, 'id'>;

/** Creates a campaign without links. The caller has checked that the folder is the workspace's. */
export async function insertDestination(tx: Queryable, given: NewDestination): Promise<Destination> {
  const destination = { id: uuidv7(), ...given };
  await tx.query(`INSERT INTO destinations (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
    destination.id,
    destination.workspace_id,
    destination.name,
    destination.destination_url,
    destination.external,
    destination.tags,
    destination.folder_id,
  ]);
  return destination;
}

/** The campaign with this id in the workspace, or null. */
export async function destinationById(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Destination | null> {
  const { rows } = await db.query<Destination>(
    `SELECT ${COLUMNS} FROM destinations WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId],
  );
  return rows[0] ?? null;
}

export type DestinationChange = Partial<Pick<Destination, 'name' | 'destination_url' | 'tags' | 'folder_id'>>;

const CHANGEABLE = [
  'name',
  'destination_url',
  'tags',
  'folder_id',
] as const satisfies readonly (keyof DestinationChange)[];

/** Changes the given fields of a campaign, for all its links, and leaves the others. */
export async function updateDestination(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: DestinationChange,
): Promise<void> {
  const names = CHANGEABLE.filter((name) => change[name] !== undefined);
  if (names.length === 0) return;
  const assignments = names.map((name, index) => `${name} = $${index + 3}`).join(', ');
  await tx.query(
    `UPDATE destinations SET ${assignments}, updated_at = clock_timestamp() WHERE id = $1 AND workspace_id = $2`,
    [id, workspaceId, ...names.map((name) => change[name])],
  );
}
