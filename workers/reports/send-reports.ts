import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { isPaid } from '../../core/access/plans.ts';
import { AppError } from '../../core/errors.ts';
import { lastRun, nextRun, type Schedule } from '../../core/reports/schedule.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { readingPoint } from '../../sql/event-log/reading-points.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import {
  type ClaimedReport,
  claimReports,
  type SettledReport,
  settleReport,
} from '../../sql/reports/report-queue.ts';
import { composeReport } from './compose-report.ts';
import { queueMessages } from './queue-messages.ts';

/** `queued`: in the transaction, which is not committed. */
export type ReportStep = 'claimed' | 'composed' | 'queued' | 'committed';

export type ReportDependencies = {
  pool: Pool;
  readers: JobReaders;
  log: Pick<Logger, 'info' | 'warn'>;
  outbox: Outbox;
  appUrl: string;
  /** For tests: called at each step of each report. */
  onStep?: (step: ReportStep) => void;
};

/** Longer than the queries of a report: no second worker should make it in vain. Milliseconds. */
export const REPORT_LEASE_MS = 180_000;
const CHUNK = 5;
/** How long a report waits for the last clicks of its period. Milliseconds. */
const PATIENCE_MS = 3_600_000;
const LOOK_AGAIN_MS = 30_000;
/** Wait after the first failure; it doubles up to the longest one. Milliseconds. */
const FIRST_RETRY_MS = 60_000;
const LONGEST_RETRY_MS = 3_600_000;

const NOT_PAID = 'the plan of the workspace does not cover reports';

/**
 * Makes the reports that are due, and queues their messages. Several workers may run it. One transaction settles a
 * report and queues its messages, and only the worker whose claim holds may commit it. A worker that dies before the
 * commit has sent nothing, and one that dies after it has sent all. If periods were missed, only the last one is sent.
 *
 * @param now milliseconds since the epoch
 * @returns whether more may be due
 */
export async function sendReports(dependencies: ReportDependencies, now = Date.now()): Promise<boolean> {
  const claimed = await claimReports(dependencies.pool, now, REPORT_LEASE_MS, CHUNK);
  dependencies.onStep?.('claimed');
  for (const report of claimed) await sendReport(dependencies, report, now);
  return claimed.length === CHUNK;
}

async function sendReport(
  dependencies: ReportDependencies,
  report: ClaimedReport,
  now: number,
): Promise<void> {
  const { pool, readers, log, onStep = () => undefined } = dependencies;
  const { schedule, nextAt, sentUntil, workspace } = report;
  const after = (state: Partial<SettledReport>): SettledReport => {
    const next = nextAt === null ? null : nextRun(schedule, now).at;
    const settled = { nextAt: next, dueAt: next, sentUntil: null, sentAt: null, isRequested: false };
    return { ...settled, failures: 0, error: null, ...state };
  };
  const later = (dueAt: number, state: Partial<SettledReport>) =>
    after({ nextAt, dueAt, isRequested: report.isRequested, failures: report.failures, ...state });
  if (workspace.isSuspended || !isPaid(workspace)) {
    await settleReport(pool, report, after({ error: NOT_PAID }));
    return;
  }
  const run = nextAt !== null && nextAt <= now ? lastRun(schedule, now) : null;
  const isScheduled = run !== null && (sentUntil === null || run.period.to > sentUntil);
  if (!isScheduled && !report.isRequested) {
    await settleReport(pool, report, after({}));
    return;
  }
  const { period } = isScheduled ? run : lastPeriod(schedule, now);
  const isPatient = isScheduled && now < run.at + PATIENCE_MS;
  if (isPatient) {
    const { watermark } = await readingPoint(pool, workspace.id);
    if (watermark !== null && watermark / 1_000 < period.to) {
      await settleReport(pool, report, later(now + LOOK_AGAIN_MS, {}));
      return;
    }
  }
  const made = { appUrl: dependencies.appUrl, isRequested: !isScheduled };
  const composing = readers.readUpTo(isPatient ? period.to * 1_000 : 0, (clickhouse) =>
    composeReport({ pool, clickhouse }, report, period, made),
  );
  const content = await composing.catch((error: unknown) => {
    log.warn({ report: report.id, err: error }, 'failed to make a report; will retry');
    return error instanceof AppError ? error : null;
  });
  if (content === null || content instanceof AppError) {
    const failures = report.failures + 1;
    const wait = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
    const error = content?.message ?? 'a database did not respond; the report is tried again';
    await settleReport(pool, report, later(now + wait, { failures, error }));
    return;
  }
  onStep('composed');
  const sent = after({ sentAt: now, sentUntil: isScheduled ? period.to : null });
  const isSent = await inTransaction(pool, async (tx) => {
    if (!(await settleReport(tx, report, sent))) return false;
    await queueMessages(tx, dependencies.outbox, workspace, report.recipients, content);
    onStep('queued');
    return true;
  });
  onStep('committed');
  if (isSent) log.info({ report: report.id, workspace: workspace.id }, 'a report was sent');
}

/** Returns the last whole period, whatever the hour and day of the schedule. */
const lastPeriod = ({ every, time_zone }: Schedule, now: number) =>
  lastRun({ every, time_zone, hour: 0 }, now);
