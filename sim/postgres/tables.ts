import { converted, type Row } from './expressions.ts';

/** What the simulator has to know of a table. */
export type TableDefinition = {
  key: readonly string[];
  /** The type of each column. */
  columns: Readonly<Record<string, string>>;
  defaults: (now: number) => Row;
  /** A crash empties it. */
  isUnlogged?: boolean;
  /** Rows that the migration inserts. */
  rows?: readonly Row[];
};

/** The tables of `sql/migrations/0003_event_log.sql` that lanes use, and an empty one that they look into. */
export const TABLES: Readonly<Record<string, TableDefinition>> = {
  ingest_streams: {
    key: ['stream_id'],
    columns: {
      stream_id: 'uuid',
      ordinal: 'smallint',
      place: 'smallint',
      name: 'text',
      high_water: 'numeric',
      visible_before: 'bigint',
      state: 'text',
      missing: 'jsonb',
      unsendable: 'numeric',
      retired_at: 'timestamptz',
      clock_reset_requested_at: 'timestamptz',
    },
    defaults: () => ({
      place: 0,
      high_water: -1n,
      visible_before: 0,
      state: 'active',
      missing: [],
      unsendable: -1n,
      retired_at: null,
      clock_reset_requested_at: null,
    }),
  },
  log_lanes: {
    key: ['consumer', 'partition'],
    columns: {
      consumer: 'text',
      partition: 'text',
      epoch: 'bigint',
      next_offset: 'numeric',
      intent: 'jsonb',
      held_by: 'text',
      held_until: 'timestamptz',
      updated_at: 'timestamptz',
    },
    defaults: (now) => ({
      epoch: 0,
      next_offset: 0n,
      intent: null,
      held_by: null,
      held_until: null,
      updated_at: now,
    }),
  },
  replicas: { key: ['name'], columns: { name: 'text' }, defaults: () => ({}), rows: [{ name: 'main' }] },
  replica_lanes: {
    key: ['replica', 'partition'],
    columns: {
      replica: 'text',
      partition: 'text',
      next_offset: 'numeric',
      intent: 'jsonb',
      lost_at: 'timestamptz',
    },
    defaults: () => ({ intent: null, lost_at: null }),
  },
  counted_clicks: {
    key: ['ordinal', 'hour'],
    columns: {
      ordinal: 'smallint',
      hour: 'int',
      clicks: 'bigint',
      sequences: 'bigint',
      has_gap: 'boolean',
    },
    defaults: () => ({}),
  },
  live_workers: {
    key: ['consumer', 'holder'],
    columns: { consumer: 'text', holder: 'text', live_until: 'timestamptz' },
    defaults: () => ({}),
    isUnlogged: true,
  },
  dead_letters: {
    key: ['partition', 'log_offset', 'stream_id', 'sequence'],
    columns: {
      partition: 'text',
      log_offset: 'numeric',
      stream_id: 'uuid',
      sequence: 'numeric',
      reason: 'text',
      payload: 'bytea',
    },
    defaults: () => ({ stream_id: null, sequence: null }),
  },
  erasures: { key: ['id'], columns: { id: 'uuid', requested_at: 'timestamptz' }, defaults: () => ({}) },
};

export function definitionOf(table: string): TableDefinition {
  const definition = TABLES[table];
  if (!definition) throw new Error(`the simulator has no table ${table}`);
  return definition;
}

export function keyOf(table: string, row: Row): string {
  return definitionOf(table)
    .key.map((column) => String(row[column] ?? null))
    .join(' ');
}

/** Returns a value as a column of the table has it. */
export function stored(table: string, column: string, value: unknown): unknown {
  const type = definitionOf(table).columns[column];
  if (type === undefined) throw new Error(`${table} has no column ${column}`);
  return converted(value, type);
}
