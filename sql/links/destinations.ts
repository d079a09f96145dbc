import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** A campaign: the destination and name that its links share. */
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

/** Creates one campaign; see {@link insertDestinations}. */
export async function insertDestination(tx: Queryable, given: NewDestination): Promise<Destination> {
  const { workspace_id, ...fields } = given;
  const [destination] = await insertDestinations(tx, workspace_id, [fields]);
  if (!destination) throw new Error('the campaign was not inserted');
  return destination;
}

/**
 * Creates campaigns without links, in the order given. The caller has checked that their folders belong to the
 * workspace.
 */
export async function insertDestinations(
  tx: Queryable,
  workspaceId: string,
  given: Omit<NewDestination, 'workspace_id'>[],
): Promise<Destination[]> {
  const made = given.map((fields) => ({ id: uuidv7(), workspace_id: workspaceId, ...fields }));
  await tx.query(
    `INSERT INTO destinations (${COLUMNS})
     SELECT id, $1, name, destination_url, external, tags, folder_id
     FROM json_to_recordset($2) AS given (id uuid, name text, destination_url text, external boolean, tags text[],
       folder_id uuid)`,
    [workspaceId, JSON.stringify(made)],
  );
  return made;
}

/** Returns the campaign with this id in the workspace, or null. */
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
