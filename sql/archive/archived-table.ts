/**
 * Tables whose rows have a number that is unique in one deployment: another deployment may have given it to another
 * row.
 */
export const NUMBERED = {
  domains: 'number',
  orders: 'internal_id',
  leads: 'internal_id',
  grants: 'id',
  grant_changes: 'id',
  commission_changes: 'id',
  enrollment_changes: 'id',
  payout_changes: 'id',
  ledger_entries: 'id',
  connection_events: 'internal_id',
} as const;

export type Numbered = keyof typeof NUMBERED;

/** A table of PostgreSQL whose rows of a workspace are in its archive. */
export type ArchivedTable = {
  name: string;
  /** SQL: which rows `t` are the workspace's, `$1`. Left out: those with its `workspace_id`. */
  rows?: string;
  /** Columns that sort the rows, so that two archives of the same workspace are equal. */
  order: string;
  /** Columns that hold a number, with the table that gives it. */
  numbers?: Readonly<Record<string, Numbered>>;
  /** Columns that are not taken over, and why, in words for a user. */
  without?: Readonly<Record<string, string>>;
  /** SQL of the values that the archive has in place of the columns. The row is `t`. */
  written?: Readonly<Record<string, string>>;
  /**
   * SQL of values that an import stores instead of the archive's, of row `r`, with the {@link ImportContext} as
   * `$2::jsonb`.
   */
  read?: Readonly<Record<string, string>>;
  /** SQL: which rows `r` of the archive are stored. Left out: all. */
  stored?: string;
  /** Rows in one response of PostgreSQL, of a table with wide ones. */
  atOnce?: number;
  /** Whether rows refer to other rows of the table, so that all are stored in one statement. */
  refersToItself?: boolean;
};

/** What an import changes in the rows. */
export type ImportContext = {
  workspace_id: string;
  /** What is added to the numbers of each table; 0: they are free here. */
  offsets: Record<Numbered, number>;
  /** The workspace's slug here. */
  workspace_slug: string;
  /** New slugs of links, pages and programs, by id. */
  slugs: Record<string, string>;
  /** Their new keys in `slugs`, by `<target id>/<key in the archive>`. */
  keys: Record<string, string>;
  /** Keys of aliases and prefixes that another workspace has here. */
  dropped: string[];
  /** Domains that the workspace proves here. */
  proven: string[];
  /** Look-up ids of API keys that another key has here, each with its replacement. */
  lookups: Record<string, string>;
};

/** SQL of a slug, which may be another one here. @param id SQL of what it names */
export const slugHere = (id: string, column: string) =>
  `coalesce($2::jsonb #>> ARRAY['slugs', ${id}::text], ${column})`;
