import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lifetimeValues } from '../../clickhouse/reports/index.ts';
import { uuidv7 } from '../../core/ids.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { type AttributionRig, createAttributionRig, DAY, NOW } from '../../test/support/attribution-rig.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
});
beforeEach(() => rig.newWorkspace());
afterAll(() => rig.close());

describe('the lifetime value of a channel', () => {
  const [twitter, button, facebook] = [uuidv7(), uuidv7(), uuidv7()];

  /** Clicks, a day apart, and then an order of 1,000, not yet attributed. */
  async function bought(clicks: [link: string, channel: string][]): Promise<string> {
    const visitor = uuidv7();
    for (const [n, [link, channel]] of clicks.entries())
      await rig.click({ visitor, link, channel, ts: NOW - (9 - n) * DAY });
    return rig.order({ ts: NOW - DAY, visitor });
  }

  const values = async (hasDeleted = true) =>
    Object.fromEntries(
      await lifetimeValues(rig.stores.clickhouse, { workspaceId: rig.workspaceId, hasDeleted }),
    );

  it('keeps an order that is attributed to a bio button that is deleted', async () => {
    await rig.credits(
      await bought([
        [twitter, 'twitter'],
        [button, 'bio'],
      ]),
    );
    expect(await values(false)).toEqual({ twitter: 1_000n });
    await rig.hide(button);
    expect(await values()).toEqual({ twitter: 1_000n });
  });

  it('loses an order to the next channel when the bio button that came first is deleted', async () => {
    await rig.credits(
      await bought([
        [button, 'bio'],
        [facebook, 'facebook'],
        [twitter, 'twitter'],
      ]),
    );
    await rig.credits(await bought([[button, 'bio']]));
    expect(await values()).toEqual({ bio: 2_000n });
    await rig.hide(uuidv7());
    expect(await values()).toEqual({ bio: 2_000n });
    await rig.hide(button);
    expect(await values()).toEqual({ facebook: 1_000n });
  });

  it('counts an order alike whether it is attributed before or after the bio button is deleted', async () => {
    const clicks: [string, string][] = [
      [button, 'bio'],
      [facebook, 'facebook'],
      [button, 'bio'],
    ];
    await rig.credits(await bought(clicks));
    const after = await bought(clicks);
    await rig.hide(button);
    await rig.credits(after);
    expect(await values()).toEqual({ facebook: 2_000n });
  });

  it('stays with bio as long as one of the buttons that came first is left', async () => {
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
    const [another, later] = [uuidv7(), uuidv7()];
    await rig.credits(
      await bought([
        [button, 'bio'],
        [another, 'bio'],
        [facebook, 'facebook'],
        [later, 'bio'],
      ]),
    );
    await rig.hide(button);
    expect(await values()).toEqual({ bio: 1_000n });
    await rig.hide(another);
    expect(await values()).toEqual({ facebook: 1_000n });
  });

  it('has nothing of a report of an order that was replaced', async () => {
    const orderId = await bought([
      [button, 'bio'],
      [facebook, 'facebook'],
    ]);
    await rig.credits(orderId);
    await rig.order({ orderId, ts: NOW - 2 * DAY, visitor: uuidv7(), source: 'server', amount: 700 });
    await rig.credits(orderId);
    await rig.hide(button);
    expect(await values()).toEqual({});
  });
});
