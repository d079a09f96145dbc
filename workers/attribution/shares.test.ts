import { describe, expect, it } from 'vitest';
import type { ClickGroup } from '../../clickhouse/queries/clicks-before-orders.ts';
import { bytesToUuid, uuidv7 } from '../../core/ids.ts';
import type { Unattributed } from '../../sql/orders/unattributed.ts';
import { creditedClick } from '../../test/support/enriched-click.ts';
import { sharesOf } from './shares.ts';

const [first, second, third] = [uuidv7(), uuidv7(), uuidv7()];

function order(model: Unattributed['model']): Unattributed {
  return {
    internalId: 1,
    workspaceId: uuidv7(),
    orderId: 'o-1',
    version: 7,
    ts: 1_000_000,
    streamOrdinal: 3,
    visitorId: null,
    otherVisitorIds: [],
    email: null,
    link: null,
    revenue: { amountMinor: 100, currency: 'usd', workspaceCurrency: 'usd' },
    isGivenUp: false,
    model,
    window: 30,
    written: [],
    rowVersion: '1',
  };
}

function group(linkId: string, clicks: number, firstTs: bigint, lastTs: bigint): ClickGroup {
  return {
    position: 0,
    linkId,
    channel: `channel-of-${clicks}`,
    click: creditedClick(),
    clicks,
    firstTs,
    lastTs,
  };
}

const groups = [group(second, 1, 20n, 20n), group(first, 1, 10n, 50n), group(third, 1, 30n, 40n)];

function credited(model: Unattributed['model'], among = groups) {
  const origin = { channel: 'bio', bioLinks: [second, third], otherChannel: 'tiktok' };
  return sharesOf({ order: order(model), groups: among, amountMinor: 100, origin });
}

describe('sharesOf', () => {
  it('gives all to the link of the last click', () => {
    const rows = credited('last_click');
    expect(rows.map((row) => [bytesToUuid(row.linkId), row.share, row.amountMinor])).toEqual([
      [first, 1, 100],
    ]);
  });

  it('gives all to the link of the first click', () => {
    const rows = credited('first_click', [groups[0] as ClickGroup, groups[2] as ClickGroup]);
    expect(rows.map((row) => bytesToUuid(row.linkId))).toEqual([second]);
  });

  it('splits linearly without losing a minor unit, the remainder to the earlier click', () => {
    const rows = credited('linear');
    expect(rows.map((row) => [row.part, bytesToUuid(row.linkId), row.amountMinor])).toEqual([
      [0, first, 34],
      [1, second, 33],
      [2, third, 33],
    ]);
    expect(rows.reduce((sum, row) => sum + row.share, 0)).toBeCloseTo(1);
  });

  it('weighs a link by its clicks in a linear split', () => {
    const rows = credited('linear', [group(first, 3, 1n, 9n), group(second, 1, 2n, 2n)]);
    expect(rows.map((row) => [row.share, row.amountMinor])).toEqual([
      [0.75, 75],
      [0.25, 25],
    ]);
  });

  it('splits among at most as many links as the table can number: those with the most clicks', () => {
    const many = Array.from({ length: 65_537 }, (_, n) =>
      group(uuidv7(), n === 1 ? 1 : 2, BigInt(n), BigInt(n)),
    );
    const rows = credited('linear', many);
    const without = many.filter(({ clicks }) => clicks === 2);
    expect(rows.map((row) => bytesToUuid(row.linkId))).toEqual(without.map(({ linkId }) => linkId));
    expect(rows.at(-1)?.part).toBe(65_535);
    expect(rows.reduce((sum, row) => sum + row.amountMinor, 0)).toBe(100);
  });

  it('names on every part the channel of the first click', () => {
    const said = credited('linear').map((row) => [
      row.firstChannel,
      row.firstBioLinks.map((link) => bytesToUuid(link)),
      row.firstOtherChannel,
    ]);
    const first = ['bio', [second, third], 'tiktok'];
    expect(said).toEqual([first, first, first]);
  });

  it('writes one row to no link when no click led to the order', () => {
    const [row, ...others] = credited('linear', []);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ part: 0, channel: '', share: 1, amountMinor: 100, firstChannel: 'bio' });
    expect(bytesToUuid(row?.linkId ?? new Uint8Array(16))).toBe('00000000-0000-0000-0000-000000000000');
  });
});
