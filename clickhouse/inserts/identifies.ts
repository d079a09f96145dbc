import type { IdentifyEvent } from '../../core/events/types.ts';
import {
  NO_UUID,
  nativeBlock,
  textColumn,
  timeColumn,
  uint64Column,
  uuidColumn,
  uuidsColumn,
} from './native-columns.ts';

/** An identify to be inserted. */
export type IdentifyRow = { event: IdentifyEvent; ordinal: number; sequence: bigint };

/** Returns the rows as one block of table `identifies`. An identify without a visitor has the zero UUID. */
export function identifyBlock(rows: readonly IdentifyRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const visitor = uuidColumn('visitor_id', size);
  const ts = timeColumn('ts', size);
  const email = textColumn('email', size);
  const user = textColumn('external_user_id', size);
  const sequence = uint64Column('sequence', size);
  const others = uuidsColumn('other_visitor_ids', size);
  let row = 0;
  for (const { event, ordinal, sequence: number } of rows) {
    workspace.put(row, event.workspaceId);
    visitor.put(row, event.visitorId ?? NO_UUID);
    ts.put(row, event.ts, ordinal);
    email.put(row, event.email ?? '');
    user.put(row, event.externalUserId ?? '');
    sequence.put(row, number);
    others.put(row, event.otherVisitorIds ?? []);
    row += 1;
  }
  return nativeBlock([workspace, visitor, ts, email, user, sequence, others], size);
}
