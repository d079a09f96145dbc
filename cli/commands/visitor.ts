import type { Command } from 'commander';
import { visitorId } from '../arguments.ts';
import { eraseVisitor } from '../erase-visitor.ts';
import { printResult } from '../output.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** `hoplog visitor delete`. */
export function visitorCommands(program: Command): void {
  program
    .command('visitor')
    .description('visitors whose clicks are recorded')
    .command('delete')
    .description("delete a visitor's clicks, identifies, and identities, and anonymize the visitor's orders")
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--visitor <id>', 'visitor_id of a click', visitorId)
    .action(async (options: { workspace: string; visitor: string }, command: Command) => {
      const result = await withStores(async (stores) => {
        const workspace = await namedWorkspace(stores.pool, options.workspace);
        return eraseVisitor(stores, { workspaceId: workspace.id, visitorId: options.visitor });
      });
      printResult(command, result, ({ deleted }) =>
        deleted === 0
          ? 'no data is stored for this visitor; events still in the log will be erased too'
          : `${deleted} clicks, identifies, and orders are deleted or anonymized; the workers now erase them from disk`,
      );
    });
}
