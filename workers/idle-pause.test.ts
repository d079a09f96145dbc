import { describe, expect, it } from 'vitest';
import type { Pool } from '../sql/database/pool.ts';
import type { PendingWork } from '../sql/event-log/pending-work.ts';
import { createIdlePause, type IdlePause } from './idle-pause.ts';
import { createWaiting } from './jobs/waiting.ts';

const NOTHING: PendingWork = {
  waitingReports: false,
  attribution: false,
  leads: false,
  pendingSignups: false,
  trackedPurchases: false,
  earlyRefunds: false,
  orderPublications: false,
  splits: false,
  connectionEvents: false,
  connectionPayments: false,
  promotionCodes: false,
  webhookEvents: false,
  webhookBatches: false,
  fulfilments: false,
  mails: false,
  reports: false,
  alerts: false,
  affiliateNotices: false,
  chatMessages: false,
  maturedCommissions: false,
  clockCorrections: false,
  clickImports: false,
  destinationPages: false,
  webhookDeliveries: false,
};

/** PostgreSQL with this work; counts the queries. */
function poolWith(work: Partial<PendingWork>) {
  const asked = { queries: 0 };
  const query = async () => {
    asked.queries += 1;
    return { rows: [{ ...NOTHING, ...work }] };
  };
  return { asked, pool: { query } as unknown as Pool };
}

const waitingFor = (work: Partial<PendingWork>, pause: IdlePause) =>
  createWaiting({ pool: poolWith(work).pool, pause, now: Date.now });

describe('an idle pause', () => {
  it('is longer after ten seconds without a find, until the next one', () => {
    let now = 0;
    const pause = createIdlePause(1_000, () => now);
    expect([pause.isIdle(), pause.ms(200)]).toEqual([false, 200]);
    now = 10_000;
    expect([pause.isIdle(), pause.ms(200), pause.ms(5_000)]).toEqual([true, 1_000, 5_000]);
    pause.found();
    expect([pause.isIdle(), pause.ms(200)]).toEqual([false, 200]);
  });

  it('of all loops ends with work of any kind, and not without', async () => {
    let now = 10_000;
    const pause = createIdlePause(1_000, () => now);
    now = 20_000;
    expect(await waitingFor({}, pause)('leads')).toBe(false);
    expect(pause.isIdle()).toBe(true);
    // They may wait for hours.
    expect(await waitingFor({ webhookDeliveries: true }, pause)('webhookDeliveries')).toBe(true);
    expect(pause.isIdle()).toBe(true);
    expect(await waitingFor({ webhookEvents: true }, pause)('leads')).toBe(false);
    expect(pause.isIdle()).toBe(false);
  });
});

it('loops that ask at one moment share a query', async () => {
  const { pool, asked } = poolWith({ leads: true });
  const waits = createWaiting({ pool, pause: createIdlePause(1_000), now: Date.now });
  expect(await Promise.all([waits('leads'), waits('splits')])).toEqual([true, false]);
  expect(asked.queries).toBe(1);
});
