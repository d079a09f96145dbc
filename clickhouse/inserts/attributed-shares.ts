import { CREDITED_TEXTS, type CreditedClick } from '../../core/analytics/dimensions.ts';
import { TRIGGERS } from '../../core/clicks/triggers.ts';
import { lowCardinalityColumn } from './low-cardinality-columns.ts';
import {
  boolColumn,
  enum8Column,
  float64Column,
  int64Column,
  nativeBlock,
  textColumn,
  timeColumn,
  uint16Column,
  uint32Column,
  uint64Column,
  uuidColumn,
  uuidsColumn,
} from './native-columns.ts';

/** The share of one link in one version of an order. */
export type AttributedShareRow = {
  workspaceId: Uint8Array;
  orderId: string;
  version: number;
  /** Number of the part, from 0 within the version. */
  part: number;
  /** Microseconds, of the order. */
  ts: number;
  ordinal: number;
  /** The zero UUID, with an empty channel, when no click led to the order. */
  linkId: Uint8Array;
  channel: string;
  /** Null: as a click whose dimensions are all unknown. */
  click: CreditedClick | null;
  /** 0 to 1; the shares of a version add up to 1. */
  share: number;
  /** The share of a lead, 0 to 1; 0 for an order, and `share` and the amount are 0 for a lead. */
  lead: number;
  /** Minor units of the workspace's currency. */
  amountMinor: number;
  /** Channel of the person's first click, on every part, for `ltv`. Empty: there was none. */
  firstChannel: string;
  /** Links of bio buttons that the person clicked before any other link, on every part. */
  firstBioLinks: readonly Uint8Array[];
  /** Channel of the person's first click on another link, on every part. Empty: there was none. */
  firstOtherChannel: string;
  /** The row with this key no longer counts. Only the key of such a row is ever read. */
  replaced: boolean;
};

/** Returns the rows as one block of table `attributed_shares`. */
export function attributedSharesBlock(rows: readonly AttributedShareRow[]): Uint8Array[] {
  const size = rows.length;
  const workspace = uuidColumn('workspace_id', size);
  const order = textColumn('order_id', size);
  const version = uint64Column('version', size);
  const part = uint16Column('part', size);
  const ts = timeColumn('ts', size);
  const link = uuidColumn('link_id', size);
  const channel = lowCardinalityColumn('channel', size);
  const texts = CREDITED_TEXTS.flatMap((name) =>
    name === 'trigger' ? [] : { name, column: lowCardinalityColumn(name, size) },
  );
  const trigger = enum8Column('trigger', size, TRIGGERS);
  const asn = uint32Column('asn', size);
  const share = float64Column('share', size);
  const lead = float64Column('lead', size);
  const amount = int64Column('amount_minor', size);
  const firstChannel = lowCardinalityColumn('first_channel', size);
  const firstBioLinks = uuidsColumn('first_bio_links', size);
  const firstOtherChannel = lowCardinalityColumn('first_other_channel', size);
  const replaced = boolColumn('replaced', size);
  rows.forEach((given, row) => {
    workspace.put(row, given.workspaceId);
    order.put(row, given.orderId);
    version.put(row, BigInt(given.version));
    part.put(row, given.part);
    ts.put(row, given.ts, given.ordinal);
    link.put(row, given.linkId);
    channel.put(row, given.channel);
    for (const { name, column } of texts) column.put(row, given.click?.[name] ?? '');
    trigger.put(row, given.click?.trigger === 'qr' ? 'qr' : 'link');
    asn.put(row, given.click?.asn ?? 0);
    share.put(row, given.share);
    lead.put(row, given.lead);
    amount.put(row, BigInt(given.amountMinor));
    firstChannel.put(row, given.firstChannel);
    firstBioLinks.put(row, given.firstBioLinks);
    firstOtherChannel.put(row, given.firstOtherChannel);
    replaced.put(row, given.replaced);
  });
  const shares = [workspace, order, version, part, ts, link, channel, share, lead, amount];
  const click = [...texts.map(({ column }) => column), trigger, asn];
  const origin = [firstChannel, firstBioLinks, firstOtherChannel];
  return nativeBlock([...shares, ...click, ...origin, replaced], size);
}
