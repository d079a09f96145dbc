import { afterAll, beforeAll, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { upsertIdentities } from '../../sql/identities.ts';
import { inTransaction } from '../../sql/pool.ts';
import { putReportedOrder } from '../../sql/reported-orders.ts';
import { recordPurchase } from '../../sql/rewards/record-purchase.ts';
import { advanceStreams, readStreams } from '../../sql/streams.ts';
import { updateWorkspace } from '../../sql/workspaces.ts';
import { type AttributionRig, createAttributionRig, DAY, NOW } from '../../test/support/attribution-rig.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
  await rig.newWorkspace();
});
afterAll(() => rig.close());

it('credits a purchase of yesterday to the clicks of a buyer who was identified right before it was reported', async () => {
  const { pool } = rig.stores;
  const [visitor, link] = [uuidv7(), uuidv7()];
  await rig.click({ visitor, link, ts: NOW - 2 * DAY });
  const report = (orderId: string, known: boolean) =>
    inTransaction(pool, (tx) =>
      putReportedOrder(
        tx,
        {
          workspace_id: rig.workspaceId,
          order_id: orderId,
          ts: NOW - DAY,
          visitor_id: null,
          email: 'ann@shop.example',
          external_user_id: 'ann',
          amount_minor: 700,
          currency: 'usd',
        },
        { known, now: new Date(NOW / 1_000) },
      ),
    );
  await report('first', false);
  // A better report of an order that stands: another's was its time.
  const again = await rig.order({ ts: NOW - DAY / 2, source: 'server' });
  expect(await rig.credits(again)).toMatchObject([{ channel: '' }]);
  await report(again, true);
  expect(await rig.credits('first')).toEqual([]);
  expect(await rig.credits(again)).toMatchObject([{ channel: '', amount: 1_000 }]);

  // It was on its way. By the time that the watermark has passed the report it has arrived.
  await rig.identify(visitor, 'ann@shop.example');
  const [stream] = await readStreams(pool);
  if (!stream) throw new Error('no stream');
  await advanceStreams(pool, [{ ...stream, visibleBefore: NOW + DAY }]);
  for (const orderId of ['first', again]) {
    expect(await rig.credits(orderId)).toMatchObject([{ link_id: link, amount: 700 }]);
  }
});

it('credits a purchase to the visitor whom its buyer was identified as last, also when that was on its way', async () => {
  const { pool } = rig.stores;
  const workspace = await updateWorkspace(pool, rig.workspaceId, { plan: 'pro' });
  if (!workspace) throw new Error('no workspace');
  const identified = (visitorId: string, ts: number) =>
    upsertIdentities(pool, [
      { workspaceId: workspace.id, visitorId, email: null, externalUserId: 'bob', byServer: true, ts },
    ]);
  const [visitor, link] = [uuidv7(), uuidv7()];
  await rig.click({ visitor, link, ts: NOW - 2 * DAY });
  await identified(uuidv7(), NOW - 3 * DAY);
  const report = {
    orderId: 'of bob',
    externalUserId: 'bob',
    email: null,
    amountMinor: 900,
    currency: 'usd',
    isRenewal: false,
    purchasedAt: new Date((NOW - DAY) / 1_000),
  };
  await inTransaction(pool, (tx) => recordPurchase(tx, workspace, report, new Date((NOW - DAY) / 1_000)));
  await identified(visitor, NOW - DAY - 1);
  expect(await rig.credits('of bob')).toMatchObject([{ link_id: link, amount: 900 }]);
});
