import { bytesToUuid, isUuid } from '../../core/ids.ts';
import { toMajor } from '../../core/money/money.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { FoundProblem } from '../../core/tracking/report-problems.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { addTestCalls, type TestCall } from '../../sql/pixel/pixel-tests.ts';
import { addReportProblems, type ProblemCount } from '../../sql/pixel/report-problems.ts';
import type { ReportBody, ReportEvent } from './report.ts';

/** The outcome of a report. */
export type Reported = {
  workspaceId: Uint8Array;
  body: ReportBody;
  /** Null: refused, or a test. */
  event: ReportEvent | null;
  outcome: TestCall['outcome'];
  problems: readonly FoundProblem[];
};

/**
 * Counts refused and corrected reports by workspace, and shows reports of a test of the installation to the person
 * who runs it.
 * Writes to PostgreSQL behind the response; what can't be written is counted later, up to a limit.
 */
export type ReportLog = { note(reported: Reported): void; close(): Promise<void> };

const WRITE_AFTER_MS = 500;
const COUNTS = 1_000;
const CALLS = 1_000;

export function createReportLog({ pool, log }: { pool: Queryable; log: Logger }): ReportLog {
  let counts = new Map<string, ProblemCount>();
  let calls: Parameters<typeof addTestCalls>[1][number][] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  function count(one: ProblemCount): void {
    const key = `${one.workspaceId}/${one.problem}/${one.field}`;
    const known = counts.get(key);
    if (known) {
      known.count += one.count;
      if (one.at >= known.at) Object.assign(known, { example: one.example, at: one.at });
    } else if (counts.size < COUNTS) counts.set(key, { ...one });
  }

  async function write(): Promise<void> {
    const problems = [...counts.values()];
    const shown = calls;
    counts = new Map();
    calls = [];
    try {
      await addTestCalls(pool, shown);
      await addReportProblems(pool, problems);
    } catch (error) {
      log.warn({ err: error }, 'failed to count problems of the pixel; will retry with the next ones');
      problems.forEach(count);
    }
  }

  function schedule(): void {
    timer ??= setTimeout(() => {
      timer = null;
      writing = writing.then(write);
    }, WRITE_AFTER_MS);
  }

  return {
    note({ workspaceId, body, event, outcome, problems }) {
      const { test } = body;
      const isTest = typeof test === 'string' && isUuid(test);
      if (problems.length === 0 && !isTest) return;
      const workspace = bytesToUuid(workspaceId);
      const at = new Date();
      for (const one of problems) count({ ...one, workspaceId: workspace, count: 1, at });
      if (isTest && calls.length < CALLS) {
        calls.push({
          testId: test,
          workspaceId: workspace,
          at,
          call: callOf(body, event, outcome, problems),
        });
      }
      schedule();
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await writing.then(write);
    },
  };
}

function callOf(
  { type, visitor_id, _vid = visitor_id, visitor_ids }: ReportBody,
  event: ReportEvent | null,
  outcome: TestCall['outcome'],
  problems: readonly FoundProblem[],
): TestCall {
  const ids = Array.isArray(visitor_ids) ? visitor_ids.length : _vid ? 1 : 0;
  const named = event
    ? [
        event.email !== null && ('email' as const),
        event.externalUserId !== null && ('external_user_id' as const),
      ]
    : [];
  return {
    type: type === 'test' || type === 'identify' || type === 'order' ? type : 'unknown',
    outcome,
    visitors: event ? (event.visitorId ? 1 + (event.otherVisitorIds?.length ?? 0) : 0) : Math.min(ids, 8),
    names: named.filter((name) => name !== false),
    order:
      event?.kind === 'order'
        ? {
            order_id: event.orderId,
            amount: toMajor(event.amountMinor, event.currency),
            currency: event.currency,
          }
        : null,
    problems: problems.map(({ problem, field, example }) => ({ problem, field, example })),
  };
}
