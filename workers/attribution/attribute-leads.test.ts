import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import { joinVisitors } from '../../sql/orders/joined-visitors.ts';
import { noteLeads } from '../../sql/orders/leads.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { type AttributionRig, createAttributionRig, DAY, NOW } from '../../test/support/attribution-rig.ts';
import { attribute } from './attribute.ts';

let rig: AttributionRig;
beforeAll(async () => {
  rig = await createAttributionRig();
});
beforeEach(() => rig.newWorkspace());
afterAll(() => rig.close());

type Given = {
  visitor: string;
  others?: string[];
  email?: string;
  user?: string;
  ts: number;
  stream?: number;
};

/** Stores an identify as a lane does. */
async function identify({ visitor, others = [], email, user, ts, stream = 0 }: Given): Promise<void> {
  const { pool } = rig.stores;
  const { workspaceId } = rig;
  const report = { workspaceId, email: email ?? null, externalUserId: user ?? null, ts };
  await upsertIdentities(
    pool,
    [visitor, ...others].map((visitorId) => ({ ...report, visitorId, byServer: false })),
  );
  await joinVisitors(pool, [{ workspaceId, visitorIds: [visitor, ...others], ts }]);
  await noteLeads(pool, [{ ...report, visitorId: visitor, otherVisitorIds: others, streamOrdinal: stream }]);
}

/** The leads of the workspace by link, after attribution. */
async function leads(): Promise<{ link_id: string; lead: number; channel: string }[]> {
  while (await attribute(rig.dependencies, 'leads'));
  const result = await rig.stores.clickhouse.query({
    query: `SELECT link_id, channel, lead FROM attributed_shares FINAL
      WHERE workspace_id = {workspace:UUID} AND NOT replaced ORDER BY ts, part`,
    query_params: { workspace: rig.workspaceId },
    format: 'JSONEachRow',
  });
  return result.json();
}

describe('attribute, of leads', () => {
  it("attributes a person's first identify to the last click before it, and no later one", async () => {
    const [visitor, link] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 3 * DAY });
    await rig.click({ visitor, link, ts: NOW - 2 * DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY / 2 });
    expect(await leads()).toEqual([{ link_id: link, channel: 'twitter', lead: 1 }]);
    await identify({ visitor, email: 'other@mail.example', ts: NOW - DAY / 3 });
    expect(await leads()).toHaveLength(1);
  });

  it.each([
    ['the same email', { email: 'ann@mail.example' }],
    ['the same user', { user: 'u-1' }],
  ])('knows a person by %s in another browser', async (_, name) => {
    const [laptop, phone] = [uuidv7(), uuidv7()];
    await rig.click({ visitor: laptop, link: uuidv7(), ts: NOW - 3 * DAY });
    await rig.click({ visitor: phone, link: uuidv7(), ts: NOW - 2 * DAY });
    await identify({ visitor: laptop, ...name, ts: NOW - 2 * DAY });
    await identify({ visitor: phone, ...name, ts: NOW - DAY });
    expect(await leads()).toHaveLength(1);
  });

  it('knows a person by another id of the browser', async () => {
    const [before, now] = [uuidv7(), uuidv7()];
    await rig.click({ visitor: before, link: uuidv7(), ts: NOW - 3 * DAY });
    await identify({ visitor: before, email: 'ann@mail.example', ts: NOW - 2 * DAY });
    await identify({ visitor: now, others: [before], email: 'ann@work.example', ts: NOW - DAY });
    expect(await leads()).toHaveLength(1);
  });

  it('takes the earliest identify, in whatever order they are stored', async () => {
    const [visitor, early, late] = [uuidv7(), uuidv7(), uuidv7()];
    await rig.click({ visitor, link: early, ts: NOW - 3 * DAY });
    await rig.click({ visitor, link: late, ts: NOW - 1.5 * DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - 2 * DAY, stream: 1 });
    expect((await leads()).map((row) => row.link_id)).toEqual([early]);
  });

  it('counts two identifies of one moment once', async () => {
    const visitor = uuidv7();
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 3 * DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY, stream: 1 });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY, stream: 2 });
    expect(await leads()).toHaveLength(1);
  });

  it('waits for the watermark, and leaves out a person without a click', async () => {
    const visitor = uuidv7();
    await rig.click({ visitor, link: uuidv7(), ts: NOW - DAY });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW + 1 });
    await identify({ visitor: uuidv7(), email: 'bob@mail.example', ts: NOW - DAY });
    expect(await leads()).toEqual([]);
  });

  it('shares a lead by the linear model', async () => {
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
    const [visitor, one, two] = [uuidv7(), uuidv7(), uuidv7()];
    await rig.click({ visitor, link: one, ts: NOW - 3 * DAY });
    await rig.click({ visitor, link: one, ts: NOW - 2.5 * DAY });
    await rig.click({ visitor, link: two, ts: NOW - 2 * DAY, channel: 'reddit' });
    await identify({ visitor, email: 'ann@mail.example', ts: NOW - DAY });
    expect(await leads()).toEqual([
      { link_id: one, channel: 'twitter', lead: 2 / 3 },
      { link_id: two, channel: 'reddit', lead: 1 / 3 },
    ]);
  });

  it('removes a lead whose person turns out to be known after its shares were written', async () => {
    const { pool } = rig.stores;
    const { workspaceId } = rig;
    const visitor = uuidv7();
    const email = 'late@mail.example';
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
    await identify({ visitor, email, ts: NOW - DAY });
    expect(await leads()).toHaveLength(1);
    // The worker ended before it had marked the lead.
    await pool.query('UPDATE leads SET attributed_at = NULL WHERE workspace_id = $1', [workspaceId]);
    await upsertIdentities(pool, [
      { workspaceId, visitorId: visitor, email, externalUserId: null, ts: NOW - 3 * DAY, byServer: false },
    ]);
    expect(await leads()).toEqual([]);
    const { rows } = await pool.query('SELECT 1 FROM leads WHERE workspace_id = $1', [workspaceId]);
    expect(rows).toEqual([]);
  });

  it('counts a lead once when a worker ends before it has marked it', async () => {
    await updateWorkspace(rig.stores.pool, rig.workspaceId, { attribution_model: 'linear' });
    const [visitor, other] = [uuidv7(), uuidv7()];
    await rig.click({ visitor, link: uuidv7(), ts: NOW - 3 * DAY });
    await rig.click({ visitor: other, link: uuidv7(), ts: NOW - 2 * DAY });
    await identify({ visitor, others: [other], email: 'ann@mail.example', ts: NOW - DAY });
    expect(await leads()).toHaveLength(2);
    // A restore lost the mark, and since then the person has fewer visitors.
    const { pool } = rig.stores;
    await pool.query('UPDATE leads SET attributed_at = NULL, other_visitor_ids = $1', [[]]);
    await pool.query('DELETE FROM joined_visitors');
    await pool.query('DELETE FROM identities WHERE visitor_id = $1', [other]);
    expect((await leads()).map((row) => row.lead)).toEqual([1]);
  });

  it.each([
    ['is a lead again', false, 1],
    ['turns out to be known', true, 0],
  ])(
    'replaces the shares of a lead that PostgreSQL lost and stored again when its person %s',
    async (_, isKnown, left) => {
      const { pool } = rig.stores;
      const { workspaceId } = rig;
      const visitor = uuidv7();
      const email = 'lost@mail.example';
      await rig.click({ visitor, link: uuidv7(), ts: NOW - 2 * DAY });
      await identify({ visitor, email, ts: NOW - DAY });
      expect(await leads()).toHaveLength(1);
      await pool.query('DELETE FROM leads WHERE workspace_id = $1', [workspaceId]);
      await identify({ visitor, email, ts: NOW - DAY });
      if (isKnown) {
        await upsertIdentities(pool, [
          {
            workspaceId,
            visitorId: visitor,
            email,
            externalUserId: null,
            ts: NOW - 3 * DAY,
            byServer: false,
          },
        ]);
      }
      expect(await leads()).toHaveLength(left);
    },
  );
});
