import { answerQuery, type Stores } from '../../analytics/answer-query.ts';
import { queryOfView } from '../../analytics/view-query.ts';
import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { isPaid } from '../../core/access/plans.ts';
import { alertStateAfter } from '../../core/alerts/alert-state.ts';
import { type Finding, findingOf, WEEKS } from '../../core/alerts/condition.ts';
import { AppError } from '../../core/errors.ts';
import { urlOfView } from '../../core/reports/view-query.ts';
import type { Logger } from '../../core/tier/log.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import {
  type ClaimedAlert,
  claimAlerts,
  recordAlertChange,
  type SettledAlert,
  settleAlert,
} from '../../sql/alerts/alert-queue.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { readingPoint } from '../../sql/event-log/reading-points.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import { queueMessages } from '../reports/queue-messages.ts';

/** `queued`: in the transaction, which is not committed. */
export type AlertStep = 'claimed' | 'found' | 'queued' | 'committed';

export type AlertDependencies = {
  pool: Pool;
  readers: JobReaders;
  log: Pick<Logger, 'info' | 'warn'>;
  outbox: Outbox;
  appUrl: string;
  /** For tests: called at each step of each alert. */
  onStep?: (step: AlertStep) => void;
};

/** Longer than the queries of an alert: no second worker should check it in vain. Milliseconds. */
export const ALERT_LEASE_MS = 120_000;
const CHUNK = 10;
const HOUR = 3_600_000;
const LOOK_AGAIN_MS = 30_000;
/** After this the hour is checked even when the watermark is late: the last clicks may be missing. Milliseconds. */
const PATIENCE_MS = 1_800_000;

const NOT_PAID = 'the plan of the workspace does not cover alerts';

/**
 * Checks the alerts that are due, each for the last whole hours. Several workers may run it: an alert is claimed, checked,
 * and settled in one transaction with its messages, which only the worker of a claim that holds may commit.
 *
 * @param now milliseconds since the epoch
 * @returns whether more may be due
 */
export async function checkAlerts(dependencies: AlertDependencies, now = Date.now()): Promise<boolean> {
  const claimed = await claimAlerts(dependencies.pool, now, ALERT_LEASE_MS, CHUNK);
  dependencies.onStep?.('claimed');
  for (const alert of claimed) await checkAlert(dependencies, alert, now);
  return claimed.length === CHUNK;
}

async function checkAlert(dependencies: AlertDependencies, alert: ClaimedAlert, now: number): Promise<void> {
  const { pool, readers, log, onStep = () => undefined } = dependencies;
  const { state, since, toldAt, isTold, checkedUntil, workspace } = alert;
  const until = Math.floor(now / HOUR) * HOUR;
  const as = (given: Partial<SettledAlert>): SettledAlert => ({
    ...{ state, since, toldAt, isTold, checkedUntil, dueAt: until + HOUR, error: null },
    ...given,
  });
  if (workspace.isSuspended || !isPaid(workspace)) {
    await settleAlert(pool, alert, as({ error: NOT_PAID }));
    return;
  }
  if (checkedUntil !== null && checkedUntil >= until) {
    await settleAlert(pool, alert, as({}));
    return;
  }
  const lookAgain = () => settleAlert(pool, alert, as({ dueAt: now + LOOK_AGAIN_MS }));
  const isPatient = now < until + PATIENCE_MS;
  const { watermark } = await readingPoint(pool, workspace.id);
  if (watermark !== null && watermark / 1_000 < until && isPatient) {
    await lookAgain();
    return;
  }
  const atLeast = isPatient ? until * 1_000 : 0;
  const finding = readers.readUpTo(atLeast, (clickhouse) => findingIn({ pool, clickhouse }, alert, until));
  const found = await finding.catch((error: unknown) => {
    log.warn({ alert: alert.id, err: error }, 'failed to check an alert; will retry');
    const isBehind = readers.isReplicated && error instanceof AppError && error.code === 'unavailable';
    const known =
      error instanceof AppError ? error.message : 'a database did not respond; the check is repeated';
    return { error: known, ...(isBehind && { dueAt: now + LOOK_AGAIN_MS }) };
  });
  if ('error' in found) {
    await settleAlert(pool, alert, as(found));
    return;
  }
  onStep('found');
  const { after, tell } = alertStateAfter(alert, found.holds, now, alert.quietHours);
  await inTransaction(pool, async (tx) => {
    const settled = as({
      state: after.state,
      since: after.since,
      toldAt: after.toldAt,
      isTold: after.isTold,
      checkedUntil: until,
    });
    if (!(await settleAlert(tx, alert, settled))) return;
    if (after.state !== state || tell !== null) {
      const { value, expected } = found;
      const change = { state: after.state, value, expected, isTold: tell !== null, at: now };
      await recordAlertChange(tx, { alertId: alert.id, workspaceId: workspace.id, ...change });
    }
    if (tell === null) return;
    const began = after.state === 'firing' ? after.since : since;
    await queueMessages(tx, dependencies.outbox, workspace, alert.recipients, {
      kind: 'alert',
      name: alert.name,
      condition: alert.condition,
      tell,
      value: found.value,
      expected: found.expected,
      until: new Date(until).toISOString(),
      since: new Date(began).toISOString(),
      currency: workspace.currency,
      url: urlOfView(dependencies.appUrl, alert.query),
    });
    onStep('queued');
    log.info({ alert: alert.id, workspace: workspace.id, tell }, 'told of an alert');
  });
  onStep('committed');
}

/** Reads the figure of an alert's hours, and of a change those of the weeks before. */
async function findingIn(
  stores: Stores,
  { query: view, condition, workspace }: ClaimedAlert,
  until: number,
): Promise<Finding> {
  const { metric, window_hours } = condition;
  const valueUntil = async (end: number) => {
    const window = {
      from: new Date(end - window_hours * HOUR).toISOString(),
      to: new Date(end).toISOString(),
    };
    const { totals } = await answerQuery(
      stores,
      { workspace },
      queryOfView(view, { metrics: [metric], window }),
    );
    return totals[metric] ?? null;
  };
  const value = await valueUntil(until);
  if (condition.type !== 'change') return findingOf(condition, value);
  const before: number[] = [];
  for (let week = 1; week <= WEEKS; week++)
    before.push((await valueUntil(weeksEarlier(until, week, workspace.time_zone ?? 'UTC'))) ?? 0);
  return findingOf(condition, value, before);
}

/** Returns the instant some weeks earlier at the same local time, also across a change of clocks. */
function weeksEarlier(until: number, weeks: number, timeZone: string): number {
  const clock = zoneClock(timeZone);
  const guess = until - weeks * 7 * 24 * HOUR;
  return guess + (clock(until) - until) - (clock(guess) - guess);
}
