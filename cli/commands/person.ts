import { type Command, InvalidArgumentError } from 'commander';
import { isEmail } from '../../core/tracking/emails.ts';
import { erasePerson } from '../erase-person.ts';
import { printResult } from '../output.ts';
import { withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** `hoplog person delete`. */
export function personCommands(program: Command): void {
  program
    .command('person')
    .description('persons by their email')
    .command('delete')
    .description(
      'erase a person from visitors, referrers, signups, orders, and members; amounts and ids stay',
    )
    .requiredOption('--workspace <id>', 'id or slug')
    .requiredOption('--email <email>', 'in any case', (text: string) => {
      if (!isEmail(text)) throw new InvalidArgumentError('It must be an email address.');
      return text;
    })
    .action(async (options: { workspace: string; email: string }, command: Command) => {
      const result = await withStores(async (stores) => {
        const workspace = await namedWorkspace(stores.pool, options.workspace);
        return erasePerson(stores, { workspaceId: workspace.id, email: options.email, now: new Date() });
      });
      printResult(command, result, ({ deleted, visitors, enrollments, signups, orders, members }) =>
        deleted === 0
          ? 'no data is stored for this email'
          : `erased ${visitors} visitors, ${enrollments} referrers, ${signups} signups, ${orders} orders, and ${members} members`,
      );
    });
}
