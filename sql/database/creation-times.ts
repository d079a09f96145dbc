/**
 * SQL: the creation time of a new row of a workspace, which is later than those of its others: it is unique, and a
 * cursor. The caller has locked the workspace. A row created while the clock was ahead does not count: otherwise all
 * later ones would be ahead as well.
 *
 * @param table with `workspace_id` and `created_at`
 * @param workspace parameter with the id of the workspace
 */
export const nextCreation = (table: string, workspace: string): string =>
  `GREATEST(date_trunc('microseconds', clock_timestamp()),
    (SELECT max(created_at) + interval '1 microsecond' FROM ${table}
     WHERE workspace_id = ${workspace} AND created_at < clock_timestamp() + interval '5 seconds'))`;
