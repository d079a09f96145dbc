import type { JobReaders } from '../../clickhouse/readers/readers.ts';
import { alertStateAfter } from '../../core/alerts/alert-state.ts';
import { isTold, type ToldProblem } from '../../core/alerts/problem-content.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { RedirectState } from '../../core/tier/redirect-health.ts';
import {
  type ClaimedProblems,
  claimProblemChecks,
  forgetProblems,
  type KnownProblem,
  knownProblems,
  queueProblemChecks,
  saveProblem,
  settleProblemCheck,
} from '../../sql/alerts/problem-queue.ts';
import { listProblems } from '../../sql/console/problems.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import { emailsOfOwners } from '../../sql/mail/recipients.ts';
import { queueMessages } from '../reports/queue-messages.ts';
import { limitsNear } from './plan-usage.ts';

export type ProblemDependencies = {
  pool: Pool;
  readers: JobReaders;
  log: Pick<Logger, 'info' | 'warn'>;
  outbox: Outbox;
  appUrl: string;
  /** Returns the state of ingest. */
  redirects: () => Promise<RedirectState>;
  /** For tests: called in the transaction that queues a mail, and after it. */
  onStep?: (step: 'queued' | 'committed') => void;
};

/** Longer than the queries of a check. Milliseconds. */
export const PROBLEM_LEASE_MS = 60_000;
const CHECK_PROBLEMS_EVERY_MS = 300_000;
const USAGE_EVERY_MS = 3_600_000;
const CHUNK = 20;
/** Hours after a mail about a problem in which no other one is sent about it. */
const QUIET_HOURS = 12;
/** What is retried is told only when it has failed for so long. Milliseconds. */
const PATIENCE_MS: Partial<Record<ToldProblem['kind'], number>> = {
  webhook_failing: 900_000,
  fulfilment_failing: 900_000,
};

/** A problem that became another one has not ended. */
const BECOMES: Partial<Record<ToldProblem['kind'], ToldProblem['kind']>> = {
  webhook_failing: 'webhook_disabled',
};

type Found = Omit<KnownProblem, 'state' | 'since' | 'toldAt' | 'isTold'> & { since: number | null };

/**
 * Looks for the problems of workspaces that are due, and tells owners by mail when one began or ended. Several workers
 * may run it: a workspace is claimed, looked at, and settled in one transaction with its mails.
 *
 * @param now milliseconds since the epoch
 * @returns whether more may be due
 */
export async function checkProblems(dependencies: ProblemDependencies, now = Date.now()): Promise<boolean> {
  const { pool, redirects } = dependencies;
  await queueProblemChecks(pool, now);
  const claimed = await claimProblemChecks(pool, now, PROBLEM_LEASE_MS, CHUNK);
  if (claimed.length === 0) return false;
  const isLosing = (await redirects()) === 'degraded';
  for (const one of claimed) await checkWorkspace(dependencies, one, isLosing, now);
  return claimed.length === CHUNK;
}

async function checkWorkspace(
  dependencies: ProblemDependencies,
  claimed: ClaimedProblems,
  isLosing: boolean,
  now: number,
): Promise<void> {
  const { pool, log, outbox, appUrl, onStep = () => undefined } = dependencies;
  const { workspace, isUsageDue } = claimed;
  const next = {
    dueAt: now + CHECK_PROBLEMS_EVERY_MS,
    usageDueAt: isUsageDue ? now + USAGE_EVERY_MS : null,
  };
  if (workspace.suspended_at !== null) {
    await settleProblemCheck(pool, claimed, next);
    return;
  }
  const found = await problemsOf(dependencies, claimed, isLosing, now);
  const mayTell = outbox.isOn && workspace.problem_mails;
  await inTransaction(pool, async (tx) => {
    if (!(await settleProblemCheck(tx, claimed, next))) return;
    const known = await knownProblems(tx, workspace.id);
    const began: ToldProblem[] = [];
    const ended: ToldProblem[] = [];
    const keyOf = ({ kind, subject }: Pick<Found, 'kind' | 'subject'>) => `${kind} ${subject}`;
    const foundBy = new Map(found.map((one) => [keyOf(one), one]));
    const knownBy = new Map(known.map((one) => [keyOf(one), one]));
    for (const key of new Set([...knownBy.keys(), ...foundBy.keys()])) {
      const [before, is] = [knownBy.get(key), foundBy.get(key)];
      const facts = is ?? before;
      // Its figures were not looked at.
      if (!facts || (facts.kind === 'plan_limit_near' && !isUsageDue)) continue;
      const state = before ?? { state: 'ok' as const, since: now, toldAt: null, isTold: false };
      const { after, tell } = alertStateAfter(state, is !== undefined, now, QUIET_HOURS);
      const { kind, subject, name, count, reason } = facts;
      // Who may not be told now is told once they may.
      const kept = mayTell ? after : { ...after, isTold: false, toldAt: state.toldAt };
      await saveProblem(tx, workspace.id, { kind, subject, name, count, reason, ...kept });
      const other = BECOMES[kind];
      const isOther = is === undefined && other !== undefined && foundBy.has(keyOf({ kind: other, subject }));
      if (tell === null || !mayTell || isOther) continue;
      const since = new Date(is?.since ?? state.since).toISOString();
      (tell === 'firing' ? began : ended).push({ kind, name, count, reason, since });
    }
    await forgetProblems(tx, workspace.id, now - QUIET_HOURS * 3_600_000);
    if (began.length + ended.length === 0) return;
    const owners = await emailsOfOwners(tx, workspace.id);
    const recipients = owners.map((address) => ({ type: 'email' as const, address }));
    const content = { kind: 'problem' as const, began, ended, url: `${appUrl}/console/problems` };
    await queueMessages(tx, outbox, workspace, recipients, content);
    onStep('queued');
    const kinds = (list: ToldProblem[]) => list.map(({ kind }) => kind);
    log.info(
      { workspace: workspace.id, began: kinds(began), ended: kinds(ended) },
      'told owners of problems',
    );
  });
  onStep('committed');
}

/** Returns the problems that owners are told of. Those of the plan's limits are among them when they are due. */
async function problemsOf(
  dependencies: ProblemDependencies,
  { workspace, isUsageDue }: ClaimedProblems,
  isLosing: boolean,
  now: number,
): Promise<Found[]> {
  const listed = await listProblems(dependencies.pool, workspace.id, workspace.partner_id === null);
  const found: Found[] = listed.flatMap(({ kind, id, name, count, reason, since }) => {
    if (!isTold(kind) || kind === 'plan_limit_near') return [];
    const at = Date.parse(since);
    if (at > now - (PATIENCE_MS[kind] ?? 0)) return [];
    return [{ kind, subject: id ?? name ?? '', name, count, reason, since: at }];
  });
  if (isLosing)
    found.push({ kind: 'clicks_lost', subject: '', name: null, count: null, reason: null, since: null });
  if (isUsageDue)
    for (const { limit, percent } of await limitsNear(dependencies, workspace, now))
      found.push({
        kind: 'plan_limit_near',
        subject: limit,
        name: limit,
        count: percent,
        reason: null,
        since: null,
      });
  return found;
}
