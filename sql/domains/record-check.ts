import type { TxtAnswer } from '../../core/dns/txt-records.ts';
import { PROOF_LABEL } from '../../core/links/domains.ts';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { type Domain, lockDomainById } from './domains.ts';

/** Time without its record after which a proven domain is failing. Milliseconds. */
const PATIENCE_MS = 3 * 86_400_000;

const TAKEN_OVER = 'another workspace has proven this domain';
const PROVEN_BY_ANOTHER =
  'the record is right, but another workspace has verified this domain; it must delete the domain there first';

/**
 * Records the result of a check of a domain's TXT record, and changes the status:
 *
 * - `pending` with its record: `verified`, unless another workspace has verified the domain. A failing one of another
 *   workspace is taken over: it is `pending` there.
 * - `verified` without its record for three days: `failing`, with the event `domain.failing`. It redirects as before.
 * - `failing` with its record: `verified`.
 *
 * No answer from DNS changes no status.
 *
 * @param answer `forced`: the operator assigns the domain to the workspace, even if another one has verified it
 * @returns the domain as it is now; null when it does not exist
 */
export async function recordCheck(
  tx: Queryable,
  id: string,
  answer: TxtAnswer | 'forced',
  now: Date,
): Promise<Domain | null> {
  // Checks of one host run one at a time, so that one of two workspaces that prove it at once is first.
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended(domain, $2)) FROM domains WHERE id = $1`, [
    id,
    ADVISORY_LOCKS.domains,
  ]);
  const domain = await lockDomainById(tx, id);
  if (!domain) return null;
  const problem = answer === 'forced' ? null : problemOf(domain, answer);
  if (problem === null) return proven(tx, domain, answer === 'forced', now);
  const isMissing = answer !== 'forced' && answer.kind === 'records' && domain.status !== 'pending';
  const missingSince = isMissing ? (domain.missing_since ?? now.toISOString()) : domain.missing_since;
  const isFailing =
    isMissing && missingSince !== null && now.getTime() - Date.parse(missingSince) >= PATIENCE_MS;
  const status = isFailing ? 'failing' : domain.status;
  const changed = await write(tx, domain, { status, missingSince, problem, now });
  if (status !== domain.status) await queueFailing(tx, changed);
  return changed;
}

function problemOf({ domain, proof }: Domain, answer: TxtAnswer): string | null {
  const name = `${PROOF_LABEL}.${domain}`;
  if (answer.kind === 'unavailable') return `no answer from DNS for the TXT record ${name}`;
  if (answer.values.includes(proof)) return null;
  if (answer.values.length === 0) return `the TXT record ${name} is missing`;
  return `the TXT record ${name} has another value: ${shortened(answer.values.join(', '))}`;
}

const LONGEST_VALUE = 200;

function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

async function proven(tx: Queryable, domain: Domain, isForced: boolean, now: Date): Promise<Domain> {
  if (domain.status === 'pending') {
    const { rows } = await tx.query<Pick<Domain, 'id' | 'status'>>(
      `SELECT id, status FROM domains WHERE domain = $1 AND status <> 'pending' FOR UPDATE`,
      [domain.domain],
    );
    const [owner] = rows;
    if (owner?.status === 'verified' && !isForced) {
      return write(tx, domain, { status: 'pending', missingSince: null, problem: PROVEN_BY_ANOTHER, now });
    }
    if (owner) {
      await tx.query(
        `UPDATE domains SET status = 'pending', is_default = false, verified_at = NULL, missing_since = NULL,
           problem = $2, updated_at = clock_timestamp() WHERE id = $1`,
        [owner.id, TAKEN_OVER],
      );
    }
  }
  return write(tx, domain, { status: 'verified', missingSince: null, problem: null, now });
}

async function write(
  tx: Queryable,
  domain: Domain,
  given: Pick<Domain, 'status' | 'problem'> & { missingSince: string | null; now: Date },
): Promise<Domain> {
  await tx.query(
    `UPDATE domains SET status = $2, missing_since = $3, problem = $4, last_checked_at = $5,
       verified_at = CASE WHEN $2 = 'verified' THEN coalesce(verified_at, $5) ELSE verified_at END,
       updated_at = CASE WHEN status = $2 THEN updated_at ELSE clock_timestamp() END
     WHERE id = $1`,
    [domain.id, given.status, given.missingSince, given.problem, given.now],
  );
  const changed = await lockDomainById(tx, domain.id);
  if (!changed) throw new Error(`domain ${domain.id} is gone`);
  return changed;
}

async function queueFailing(tx: Queryable, domain: Domain): Promise<void> {
  const { id, domain: host, status, problem, missing_since, created_at } = domain;
  await queueEvents(tx, domain.workspace_id, [
    { type: 'domain.failing', data: { id, domain: host, status, problem, missing_since, created_at } },
  ]);
}

/**
 * Returns domains whose record is due for a check: of pending ones each minute in the first day, of all others each
 * day.
 */
export async function domainsToCheck(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<Pick<Domain, 'id' | 'domain' | 'status'>[]> {
  const { rows } = await db.query<Pick<Domain, 'id' | 'domain' | 'status'>>(
    `SELECT id, domain, status FROM domains
     WHERE last_checked_at IS NULL OR last_checked_at <= $1::timestamptz -
       CASE WHEN status = 'pending' AND created_at > $1::timestamptz - interval '1 day'
         THEN interval '1 minute' ELSE interval '1 day' END
     ORDER BY last_checked_at NULLS FIRST LIMIT $2`,
    [now, limit],
  );
  return rows;
}
