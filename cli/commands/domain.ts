import type { Command } from 'commander';
import { createTxtLookup } from '../../core/dns/txt-records.ts';
import { AppError } from '../../core/errors.ts';
import { PROOF_LABEL } from '../../core/links/domains.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { type Domain, domainsNamed } from '../../sql/domains/domains.ts';
import { recordCheck } from '../../sql/domains/record-check.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { operatorConfig, withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

type Shown = Pick<Domain, 'id' | 'domain' | 'workspace_id' | 'status' | 'problem'>;

const describe = (domain: Shown) =>
  table(
    ['id', 'domain', 'workspace', 'status', 'problem'],
    [[domain.id, domain.domain, domain.workspace_id, domain.status, domain.problem ?? '-']],
  );

/** `hoplog domain verify`. */
export function domainCommands(program: Command): void {
  const group = program.command('domain').description('domains of workspaces');
  group
    .command('verify')
    .description('look up the record that proves a domain, or with --force verify it without one')
    .requiredOption('--workspace <id>', 'id or slug of the workspace that added the domain')
    .option('--force', 'verify it, and take it from a workspace that has verified it')
    .argument('<domain>', 'host name')
    .action(async (host: string, options: { workspace: string; force?: true }, command: Command) => {
      const { dnsServers } = await operatorConfig();
      const result = await withStores(async ({ pool }) => {
        const workspace = await namedWorkspace(pool, options.workspace);
        const entries = await domainsNamed(pool, host.toLowerCase());
        const domain = entries.find(({ workspace_id }) => workspace_id === workspace.id);
        if (!domain) {
          throw new AppError(
            'not_found',
            `workspace ${workspace.slug} has no domain ${JSON.stringify(host)}`,
          );
        }
        const answer = options.force
          ? ('forced' as const)
          : await createTxtLookup(dnsServers)(`${PROOF_LABEL}.${domain.domain}`);
        return inTransaction(pool, async (tx) => {
          const checked = await recordCheck(tx, domain.id, answer, new Date());
          if (!checked) throw new AppError('not_found', `${host} was removed meanwhile`);
          await recordOperator(tx, {
            workspaceId: workspace.id,
            action: 'domain.verify',
            target: { type: 'domain', id: domain.id },
            details: { force: options.force === true },
          });
          const { id, domain: name, workspace_id, status, problem } = checked;
          return { domain: { id, domain: name, workspace_id, status, problem } };
        });
      });
      printResult(command, result, ({ domain }) => describe(domain));
    });
}
