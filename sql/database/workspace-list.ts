import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from './creation-times.ts';
import { isoMicros } from './instants.ts';
import type { Queryable } from './pool.ts';

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
type Listed = { id: string; created_at: string };

/** Reads and deletes records of workspaces in a table with `id`, `workspace_id` and `created_at`. */
export type WorkspaceRows<Row> = {
  /** Returns how many records the workspace has. */
  count(db: Queryable, workspaceId: string): Promise<number>;
  /**
   * Returns the records of a workspace, newest first.
   *
   * @param page.before ISO 8601 with microseconds: older ones only
   */
  list(db: Queryable, workspaceId: string, page: { before: string | null; limit: number }): Promise<Row[]>;
  /** Returns the record with this id in the workspace, or null. */
  byId(db: Queryable, workspaceId: string, id: string): Promise<Row | null>;
  /** As `byId`, locked until the transaction ends. */
  lock(tx: Queryable, workspaceId: string, id: string): Promise<Row | null>;
  /** Deletes a record. @returns false when the workspace has none with this id */
  delete(db: Queryable, workspaceId: string, id: string): Promise<boolean>;
};

/** Reads, creates, and deletes such records, which never change. */
export type WorkspaceList<Row extends Listed> = Pick<WorkspaceRows<Row>, 'count' | 'list' | 'delete'> & {
  /** Creates a record. The caller has locked the workspace: creation times are unique in it. */
  insert(tx: Queryable, workspaceId: string, fields: Omit<Row, keyof Listed>): Promise<Row>;
};

/**
 * @param table of these records
 * @param columns SQL of what is read
 */
export function workspaceRows<Row extends object>(table: string, columns: string): WorkspaceRows<Row> {
  const one = `SELECT ${columns} FROM ${table} WHERE workspace_id = $1 AND id = $2`;
  const first = async (db: Queryable, sql: string, workspaceId: string, id: string) =>
    (await db.query<Row>(sql, [workspaceId, id])).rows[0] ?? null;
  return {
    async count(db, workspaceId) {
      const { rows } = await db.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${table} WHERE workspace_id = $1`,
        [workspaceId],
      );
      return rows[0]?.count ?? 0;
    },
    async list(db, workspaceId, { before, limit }) {
      const { rows } = await db.query<Row>(
        `SELECT ${columns} FROM ${table}
         WHERE workspace_id = $1 AND ($2::timestamptz IS NULL OR ${table}.created_at < $2)
         ORDER BY ${table}.created_at DESC LIMIT $3`,
        [workspaceId, before, limit],
      );
      return rows;
    },
    byId: (db, workspaceId, id) => first(db, one, workspaceId, id),
    lock: (tx, workspaceId, id) => first(tx, `${one} FOR UPDATE`, workspaceId, id),
    async delete(db, workspaceId, id) {
      const { rowCount } = await db.query(`DELETE FROM ${table} WHERE id = $1 AND workspace_id = $2`, [
        id,
        workspaceId,
      ]);
      return rowCount === 1;
    },
  };
}

/**
 * @param table of these records
 * @param fields the column of each further field, and how it is read
 */
export function workspaceList<Row extends Listed>(
  table: string,
  fields: Record<Exclude<keyof Row & string, keyof Listed>, string>,
): WorkspaceList<Row> {
  const names = Object.keys(fields) as (keyof typeof fields)[];
  const read = names.map((name) => `${fields[name]} AS ${name}`);
  const columns = `id, ${read.join(', ')}, ${isoMicros('created_at')} AS created_at`;
  const values = names.map((_, index) => `$${index + 3}`).join(', ');
  const { count, list, delete: remove } = workspaceRows<Row>(table, columns);
  return {
    async insert(tx, workspaceId, given) {
      const { rows } = await tx.query<Row>(
        `INSERT INTO ${table} (id, workspace_id, ${names.join(', ')}, created_at)
         SELECT $1, $2, ${values}, ${nextCreation(table, '$2')}
         RETURNING ${columns}`,
        [uuidv7(), workspaceId, ...names.map((name) => given[name])],
      );
      if (!rows[0]) throw new Error(`the record of ${table} was not inserted`);
      return rows[0];
    },
    count,
    list,
    delete: remove,
  };
}
