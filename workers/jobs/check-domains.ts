import type { LookUpTxt } from '../../core/dns/txt-records.ts';
import { PROOF_LABEL } from '../../core/links/domains.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { domainsToCheck, recordCheck } from '../../sql/domains/record-check.ts';

export type DomainsDependencies = { pool: Pool; lookUpTxt: LookUpTxt; log: Pick<Logger, 'info' | 'warn'> };

/** Domains of one step: their lookups run together. */
const CHUNK = 20;

/**
 * Looks up the records of domains that are due. Several workers may run it: a second check changes nothing.
 *
 * @returns whether more may be due
 */
export async function checkDomains(
  { pool, lookUpTxt, log }: DomainsDependencies,
  now = new Date(),
): Promise<boolean> {
  const due = await domainsToCheck(pool, now, CHUNK);
  await Promise.all(
    due.map(async ({ id, domain, status }) => {
      const answer = await lookUpTxt(`${PROOF_LABEL}.${domain}`);
      const checked = await inTransaction(pool, (tx) => recordCheck(tx, id, answer, now));
      if (!checked || checked.status === status) return;
      const { workspace_id: workspace, problem } = checked;
      if (checked.status === 'failing')
        log.warn({ domain, workspace, problem }, 'the DNS record of a domain is missing or wrong');
      else log.info({ domain, workspace }, 'a domain was verified');
    }),
  );
  return due.length === CHUNK;
}
