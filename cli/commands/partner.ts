import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { workspaceIdsOfPartner } from '../../sql/workspaces/partner-workspaces.ts';
import {
  createPartner,
  listPartners,
  type Partner,
  rotatePartnerKey,
} from '../../sql/workspaces/partners.ts';
import { name } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';

const describe = (partners: Partner[]) =>
  table(
    ['id', 'name', 'created'],
    partners.map((partner) => [partner.id, partner.name, partner.created_at.toISOString()]),
  );

const withKey = (made: { partner: Partner; partner_key: string }) =>
  `${describe([made.partner])}\n\npartner key  ${made.partner_key}\nThe key is shown only once.`;

const auditOf = (action: string, { id }: Partner, workspaceId: string | null) => ({
  workspaceId,
  action,
  target: { type: 'partner', id },
});

/** Replaces the key of a partner. The deployment and each of its workspaces get an audit entry. */
function rotate(pool: Pool, id: string) {
  return inTransaction(pool, async (tx) => {
    const rotated = await rotatePartnerKey(tx, id);
    if (!rotated) return null;
    const { partner } = rotated;
    for (const workspaceId of [null, ...(await workspaceIdsOfPartner(tx, id))]) {
      await recordOperator(tx, auditOf('partner.rotate_key', partner, workspaceId));
    }
    return rotated;
  });
}

/** `hoplog partner create | rotate | list`. */
export function partnerCommands(program: Command): void {
  const group = program.command('partner').description('platforms that run workspaces for their customers');
  group
    .command('create')
    .description('create a partner; its key is shown once')
    .requiredOption(
      '--name <name>',
      '1 to 100 characters; also the label of keys that the partner creates',
      name,
    )
    .action(async (options: { name: string }, command: Command) => {
      const { partner, token } = await withStores(({ pool }) =>
        inTransaction(pool, async (tx) => {
          const made = await createPartner(tx, options.name);
          await recordOperator(tx, auditOf('partner.create', made.partner, null));
          return made;
        }),
      );
      printResult(command, { partner, partner_key: token }, withKey);
    });

  group
    .command('rotate')
    .description('replace the key of a partner; the old key stops working immediately')
    .requiredOption('--partner <id>', 'id of the partner')
    .action(async (options: { partner: string }, command: Command) => {
      const rotated = await withStores(async ({ pool }) =>
        isUuid(options.partner) ? rotate(pool, options.partner) : null,
      );
      if (!rotated)
        throw new AppError('not_found', `no partner has the id ${JSON.stringify(options.partner)}`);
      printResult(command, { partner: rotated.partner, partner_key: rotated.token }, withKey);
    });

  group
    .command('list')
    .description('list all partners')
    .action(async (_options: object, command: Command) => {
      const partners = await withStores(({ pool }) => listPartners(pool));
      printResult(command, { partners }, (result) => describe(result.partners));
    });
}
