import {
  boolColumn,
  float64Column,
  int64Column,
  lowCardinalityColumn,
  nativeBlock,
  textColumn,
  timeColumn,
  uint16Column,
  uint64Column,
  uuidColumn,
  uuidsColumn,
} from './native-columns.ts';

/** What one link gets of one version of an order. */
export type OrderCreditRow = {
  workspaceId: Uint8Array;
  orderId: string;
  version: number;
  /** From 0 within the version. */
  part: number;
  /** Microseconds, of the order. */
  ts: number;
  ordinal: number;
  /** The zero UUID, with an empty channel, when no click led to the order. */
  linkId: Uint8Array;
  channel: string;
  /** 0 to 1; the shares of a version add up to 1. */
  share: number;
  /** Minor units of the workspace's currency. */
  amountMinor: number;
  /** Where the person's first click came from: on every part, for ltv. Empty: there was none. */
  firstChannel: string;
  /** The links of bio buttons that the person clicked before any other link, on every part. */
  firstBioLinks: readonly Uint8Array[];
  /** Where the person's first click on another link came from, on every part. Empty: there was none. */
  firstOtherChannel: string;
  /** The row with this key counts no more. Of such a row nothing but the key is ever read. */
  replaced: boolean;
};

/** The rows as one block of table `attributed_shares`. */
export function orderCreditBlock(rows: readonly OrderCreditRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const order = textColumn('order_id', size);
  const version = uint64Column('version', size);
  const part = uint16Column('part', size);
  const ts = timeColumn('ts', size);
  const link = uuidColumn('link_id', size);
  const channel = lowCardinalityColumn('channel', size);
  const share = float64Column('share', size);
  const amount = int64Column('amount_minor', size);
  const firstChannel = lowCardinalityColumn('first_channel', size);
  const firstBioLinks = uuidsColumn('first_bio_links', size);
  const firstOtherChannel = lowCardinalityColumn('first_other_channel', size);
  const replaced = boolColumn('replaced', size);
  rows.forEach((credit, row) => {
    workspace.put(row, credit.workspaceId);
    order.put(row, credit.orderId);
    version.put(row, BigInt(credit.version));
    part.put(row, credit.part);
    ts.put(row, credit.ts, credit.ordinal);
    link.put(row, credit.linkId);
    channel.put(row, credit.channel);
    share.put(row, credit.share);
    amount.put(row, BigInt(credit.amountMinor));
    firstChannel.put(row, credit.firstChannel);
    firstBioLinks.put(row, credit.firstBioLinks);
    firstOtherChannel.put(row, credit.firstOtherChannel);
    replaced.put(row, credit.replaced);
  });
  const credited = [workspace, order, version, part, ts, link, channel, share, amount];
  const origin = [firstChannel, firstBioLinks, firstOtherChannel];
  return nativeBlock([...credited, ...origin, replaced], size);
}
