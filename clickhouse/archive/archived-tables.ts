import { ELSEWHERE } from '../inserts/elsewhere.ts';
import { NOT_DELETED } from '../queries/visible-clicks.ts';

/** A table of ClickHouse whose rows of a workspace are in its archive. */
export type ArchivedEvents = {
  name: 'clicks' | 'identifies' | 'attributed_shares' | 'deleted_links';
  /** Columns that sort the rows, and that no two rows share. */
  key: string;
  /** Rows are cut into files by `ts`. */
  hasTimes: boolean;
  /** Only one of several rows with the same key counts. */
  final: boolean;
  /** SQL: more conditions on the rows. */
  rows?: string;
  /** Columns that the table fills itself. */
  without?: readonly string[];
  /** SQL that the archive has instead of a column's value. */
  written?: Readonly<Record<string, string>>;
};

/** Marks the sequence of an event of this log as another log's, because the archive is for another deployment. */
const sequence = (isImported: string) => `if(${isImported}, sequence, bitOr(sequence, ${ELSEWHERE}))`;

/** Every table of ClickHouse that is in a workspace's archive. */
export const ARCHIVED_EVENTS: readonly ArchivedEvents[] = [
  {
    name: 'clicks',
    key: 'ts',
    hasTimes: true,
    final: false,
    rows: NOT_DELETED,
    written: { sequence: sequence("import_id != toUUID('00000000-0000-0000-0000-000000000000')") },
  },
  {
    name: 'identifies',
    key: 'ts, visitor_id',
    hasTimes: true,
    final: true,
    written: { sequence: sequence('false') },
  },
  {
    name: 'attributed_shares',
    key: 'ts, order_id, version, part',
    hasTimes: true,
    final: true,
    without: ['written'],
  },
  { name: 'deleted_links', key: 'link_id', hasTimes: false, final: true },
];

/** Tables of ClickHouse that are not in an archive, and why. */
export const EVENTS_LEFT_OUT: Readonly<Record<string, string>> = {
  orders: 'written again from PostgreSQL',
  removed_clicks: 'of the event log of the deployment',
  clicks_rolled_up: 'counted again from the clicks',
  rolled_up_periods: 'counted again from the clicks',
  rolled_up_workspaces: 'counted again from the clicks',
  clicks_by_visitor: 'listed again from the clicks',
  cached_report_parts: 'a cache',
  migrations: 'of the database',
};
