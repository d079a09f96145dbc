import { afterAll, beforeAll, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { forgetVisitors } from '../../sql/erasure/erasures.ts';
import { advanceStreams, readStreams } from '../../sql/event-log/streams.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { duePublications } from '../../sql/orders/publications.ts';
import { putReportedOrder } from '../../sql/orders/reported-orders.ts';
import { lockOrInsertSignup } from '../../sql/referrals/signups.ts';
import { recordPurchase } from '../../sql/transactions/record-purchase.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { type AttributionRig, createAttributionRig, DAY, NOW } from '../../test/support/attribution-rig.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
  await rig.newWorkspace();
});
afterAll(() => rig.close());

it('attributes a purchase of yesterday to the clicks of a buyer who was identified right before it was reported', async () => {
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
          signup_visitor_id: null,
          email: 'ann@shop.example',
          external_user_id: 'ann',
          amount_minor: 700,
          currency: 'usd',
          commissionable_minor: null,
          is_renewal: false,
        },
        { known, now: new Date(NOW / 1_000) },
      ),
    );
  await report('first', false);
  // A better report of an order that exists with another time.
  const again = await rig.order({ ts: NOW - DAY / 2, source: 'server' });
  expect(await rig.credits(again)).toMatchObject([{ channel: '' }]);
  await report(again, true);
  expect(await rig.credits('first')).toEqual([]);
  expect(await rig.credits(again)).toMatchObject([{ channel: '', amount: 1_000 }]);

  // The identify was still on its way. It arrives before the watermark passes the report.
  await rig.identify(visitor, 'ann@shop.example');
  const [stream] = await readStreams(pool);
  if (!stream) throw new Error('no stream');
  await advanceStreams(pool, [{ ...stream, visibleBefore: NOW + DAY }]);
  for (const orderId of ['first', again]) {
    expect(await rig.credits(orderId)).toMatchObject([{ link_id: link, amount: 700 }]);
  }
});

it('attributes a purchase to the visitor that its buyer was last identified as, also when that event is in flight', async () => {
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
    commissionableMinor: 900,
    currency: 'usd',
    isRenewal: false,
    purchasedAt: new Date((NOW - DAY) / 1_000),
  };
  await inTransaction(pool, (tx) => recordPurchase(tx, workspace, report, new Date((NOW - DAY) / 1_000)));
  await identified(visitor, NOW - DAY - 1);
  expect(await rig.credits('of bob')).toMatchObject([{ link_id: link, amount: 900 }]);
});

it("attributes a purchase to the pixel's visitor, whichever came first, else to whom its buyer signed up as", async () => {
  const { pool } = rig.stores;
  const workspace = await updateWorkspace(pool, rig.workspaceId, { plan: 'pro' });
  if (!workspace) throw new Error('no workspace');
  const [signed, signedLink, buying, link] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
  await rig.click({ visitor: signed, link: signedLink, ts: NOW - 2 * DAY });
  await rig.click({ visitor: buying, link, ts: NOW - 2 * DAY });
  const person = { email: null, device_id: null, visitor_id: signed, address_hash: null, by_server: true };
  const signup = { workspace_id: workspace.id, external_user_id: 'eve', ...person };
  const at = new Date((NOW - DAY) / 1_000);
  await inTransaction(pool, (tx) => lockOrInsertSignup(tx, signup, at));
  const purchase = (orderId: string) =>
    inTransaction(pool, (tx) =>
      recordPurchase(
        tx,
        workspace,
        {
          orderId,
          externalUserId: 'eve',
          email: null,
          amountMinor: 900,
          commissionableMinor: 900,
          currency: 'usd',
          isRenewal: false,
          purchasedAt: at,
        },
        at,
      ),
    );
  const byPixel = (orderId: string) => rig.order({ orderId, visitor: buying, ts: NOW - DAY + 5 });
  await byPixel('behind');
  await purchase('behind');
  await purchase('before');
  await byPixel('before');
  // A server tracked the order too, before the purchase. Its report arrives after it.
  await byPixel('tracked');
  await purchase('tracked');
  await rig.order({ orderId: 'tracked', source: 'server', amount: 900, ts: NOW - DAY - 5 });
  await purchase('alone');
  // The purchase is attributed before the pixel's report arrives.
  await purchase('late');
  expect(await rig.credits('late')).toMatchObject([{ link_id: signedLink, amount: 900 }]);
  await byPixel('late');
  for (const orderId of ['behind', 'before', 'tracked', 'late']) {
    expect(await rig.credits(orderId)).toMatchObject([{ link_id: link, amount: 900 }]);
  }
  expect(await rig.credits('alone')).toMatchObject([{ link_id: signedLink, amount: 900 }]);
  // Journeys show the same.
  const published = async () => {
    const orders = await duePublications(pool, 100);
    return orders.filter((order) => order.order_id === 'alone' || order.visitor_id === buying);
  };
  expect((await published()).map((order) => [order.order_id, order.visitor_id]).sort()).toEqual([
    ['alone', signed],
    ['before', buying],
    ['behind', buying],
    ['late', buying],
    ['tracked', buying],
  ]);

  await forgetVisitors(pool, [{ workspaceId: workspace.id, kind: 'visitor', targetId: signed }]);
  const { rows } = await pool.query(
    'SELECT order_id, external_user_id FROM orders WHERE order_id = ANY ($1) OR signup_visitor_id = $2 ORDER BY order_id',
    [['alone', 'late'], signed],
  );
  expect(rows).toEqual([
    { order_id: 'alone', external_user_id: null },
    { order_id: 'late', external_user_id: 'eve' },
  ]);
});
