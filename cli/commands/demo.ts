import type { Command } from 'commander';
import type { SampleRequest, SampleResponse } from '../../api/sample-shop/call.ts';
import { openSampleShop, removeSampleShop } from '../../api/sample-shop/sample-shop.ts';
import { CommandFailed, printResult } from '../output.ts';
import { recordOperator } from '../record-operator.ts';
import { type Stores, withStores } from '../stores.ts';
import { namedWorkspace } from './workspace.ts';

/** Workspace of the first start. */
const DEMO = 'demo';

/** Returns a function that sends requests to the running API. */
const senderTo =
  (baseUrl: string) =>
  async ({ url, ...request }: SampleRequest): Promise<SampleResponse> => {
    const response = await fetch(`${baseUrl}${url}`, request).catch((error: unknown) => {
      throw new CommandFailed(`the API at ${baseUrl} does not respond: ${causeOf(error)}`);
    });
    return { status: response.status, text: await response.text() };
  };

const causeOf = (error: unknown): string =>
  error instanceof Error
    ? error.cause instanceof Error
      ? error.cause.message
      : error.message
    : String(error);

type Deps = { pool: Stores['pool']; send: ReturnType<typeof senderTo> };

/** `hoplog demo create | remove`: the sample shop that the console shows for "Look at sample data". */
export function demoCommands(program: Command): void {
  const group = program
    .command('demo')
    .description('a sample shop with 60 days of data, in a workspace of its own');
  const workspaceOption = [
    '--workspace <id>',
    'id or slug of the workspace whose members look at it',
    DEMO,
  ] as const;

  group
    .command('create')
    .description('make the sample shop; members open it in the console with "Look at sample data"')
    .option(...workspaceOption)
    .action(async (options: { workspace: string }, command: Command) => {
      const result = await run(options.workspace, async (deps, sourceId) => {
        const { id, created } = await openSampleShop(deps, sourceId, Date.now());
        return { workspace_id: id, created };
      });
      printResult(command, result, ({ created }) =>
        created
          ? 'made the sample shop: open the console, and press "Look at sample data" on the overview or in the list of workspaces'
          : 'the sample shop is there already',
      );
    });

  group
    .command('remove')
    .description('remove the sample shop with all of its data')
    .option(...workspaceOption)
    .action(async (options: { workspace: string }, command: Command) => {
      const result = await run(options.workspace, async (deps, sourceId) => {
        const id = await removeSampleShop(deps, sourceId);
        return { workspace_id: id, removed: id !== null };
      });
      printResult(command, result, ({ removed }) =>
        removed ? 'removed the sample shop' : 'there is no sample shop',
      );
    });
}

type Done = { workspace_id: string | null; created?: boolean; removed?: boolean };

async function run<T extends Done>(
  named: string,
  work: (deps: Deps, sourceId: string) => Promise<T>,
): Promise<T> {
  return withStores(async ({ pool, config }) => {
    const source = await namedWorkspace(pool, named);
    if (source.sample_of !== null)
      throw new CommandFailed('this is a sample shop: name the workspace it belongs to');
    const result = await work({ pool, send: senderTo(config.baseUrl) }, source.id);
    if (result.created === true || result.removed === true) {
      await recordOperator(pool, {
        workspaceId: source.id,
        action: result.created === true ? 'sample_shop.open' : 'sample_shop.remove',
        target: { type: 'workspace', id: result.workspace_id },
      });
    }
    return result;
  });
}
