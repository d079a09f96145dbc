import type { LookUpTxt } from '../../core/dns/txt-records.ts';
import { AppError } from '../../core/errors.ts';
import { PROOF_LABEL, requireDomain } from '../../core/links/domains.ts';
import type { Config } from '../../core/settings/config.ts';
import { verifiedDomains } from '../../sql/archive/taken-names.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { CommandFailed } from '../output.ts';
import { lines } from './names-here.ts';
import type { OpenArchive } from './open-archive.ts';

type DomainRow = { number: number; domain: string; status: string; proof: string; is_default: boolean };

/** A domain that the workspace had proven and has not proven here. */
export type Unproven = { domain: string; is_default: boolean; why: string };

export type DomainsHere = { proven: string[]; unproven: Unproven[] };

/**
 * Looks up which domains of an archive are proven here too: the record of the old deployment counts, because the
 * archive has its value.
 *
 * @throws {CommandFailed} for a domain that is a host of this deployment
 */
export async function domainsHere(
  db: Queryable,
  archive: OpenArchive,
  lookUp: LookUpTxt,
  config: Pick<Config, 'shortUrl' | 'publicUrl' | 'baseUrl' | 'appUrl'>,
): Promise<DomainsHere> {
  const rows: DomainRow[] = [];
  for (const file of archive.part('domains').files) rows.push(...lines<DomainRow>(await archive.read(file)));
  for (const { domain } of rows) requireOther(domain, config);
  const taken = await verifiedDomains(
    db,
    rows.map(({ domain }) => domain),
  );
  const found: DomainsHere = { proven: [], unproven: [] };
  for (const { domain, status, proof, is_default } of rows) {
    if (status === 'pending') continue;
    const why = taken.has(domain)
      ? 'another workspace of this deployment has it'
      : await problem(lookUp, domain, proof);
    if (why === null) found.proven.push(domain);
    else found.unproven.push({ domain, is_default, why });
  }
  return found;
}

async function problem(lookUp: LookUpTxt, domain: string, proof: string): Promise<string | null> {
  const name = `${PROOF_LABEL}.${domain}`;
  const answer = await lookUp(name);
  if (answer.kind === 'unavailable') return `no answer from DNS for the TXT record ${name}`;
  return answer.values.includes(proof) ? null : `there is no TXT record ${name} with the value ${proof}`;
}

function requireOther(
  domain: string,
  { shortUrl, publicUrl, baseUrl, appUrl }: Pick<Config, 'shortUrl' | 'publicUrl' | 'baseUrl' | 'appUrl'>,
): void {
  try {
    requireDomain(domain, [shortUrl, publicUrl, baseUrl, appUrl]);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new CommandFailed(
      `${domain} is a domain of the workspace, and cannot be one here: it ${error.details?.[0]?.message}; delete it there, with its links moved, and export again`,
    );
  }
}
