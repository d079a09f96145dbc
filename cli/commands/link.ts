import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { type BlockableLink, blockLink } from '../../sql/links/blocks.ts';
import { printResult, table } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { withStores } from '../stores.ts';

const describe = (link: BlockableLink) =>
  table(
    ['id', 'slug', 'workspace', 'destination', 'blocked'],
    [[link.id, link.slug, link.workspace_id, link.destination_url, link.blocked_at?.toISOString() ?? '-']],
  );

/** `hoplog link block | unblock`. */
export function linkCommands(program: Command): void {
  const group = program.command('link').description('links of all workspaces');
  for (const isBlocked of [true, false]) {
    group
      .command(isBlocked ? 'block' : 'unblock')
      .description(
        isBlocked
          ? 'respond to visitors of a link with 410 and a page that says so, within a second'
          : 'let a blocked link redirect again',
      )
      .argument('<link>', 'id or slug')
      .action(async (idOrSlug: string, _options: object, command: Command) => {
        const result = await withStores(({ pool }) =>
          inTransaction(pool, async (tx) => {
            const link = await blockLink(tx, idOrSlug, isBlocked);
            if (!link)
              throw new AppError('not_found', `no link has the id or slug ${JSON.stringify(idOrSlug)}`);
            await recordOperator(tx, {
              workspaceId: link.workspace_id,
              action: isBlocked ? 'link.block' : 'link.unblock',
              target: { type: 'link', id: link.id },
            });
            return { link };
          }),
        );
        printResult(command, result, ({ link }) => describe(link));
      });
  }
}
