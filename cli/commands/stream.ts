import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { isUuid } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type ListedStream, listStreams, retireStream } from '../../sql/event-log/streams.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';

/** A stream whose process lives moves each 250 ms, and a moment later where much is to be stored. */
const MOVES_WITHIN_MS = 1_500;

/** `hoplog stream list | retire`. */
export function streamCommands(program: Command): void {
  const group = program.command('stream').description('journals of the processes that take events in');
  group
    .command('list')
    .description(
      'every stream, and up to when its events are visible: the oldest active one holds the watermark',
    )
    .action(async (_options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => ({ streams: await listStreams(pool) }));
      printResult(command, result, ({ streams }) =>
        table(
          ['id', 'name', 'ordinal', 'state', 'visible before'],
          streams.map((stream) => [
            stream.stream_id,
            stream.name,
            String(stream.ordinal),
            stream.state,
            new Date(stream.visible_before / 1_000).toISOString(),
          ]),
        ),
      );
    });

  group
    .command('retire <stream>')
    .description('say that a stream’s writer never comes back, so that it no longer holds the watermark')
    .action(async (wanted: string, _options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const stream = oneOf(await listStreams(pool), wanted);
        if (stream.state === 'active') await assertStill(pool, stream);
        if (!(await retireStream(pool, stream.stream_id))) {
          throw new CommandFailed(`stream ${wanted} is retired already`);
        }
        return { retired: stream.stream_id, name: stream.name };
      });
      printResult(command, result, ({ retired, name }) => `${name} (${retired}) is retired`);
    });
}

/** The stream of this id, or the only active one of this name. @throws {CommandFailed} */
function oneOf(streams: ListedStream[], wanted: string): ListedStream {
  const found = streams.filter((stream) =>
    isUuid(wanted)
      ? stream.stream_id === wanted.toLowerCase()
      : stream.name === wanted && stream.state === 'active',
  );
  const [stream] = found;
  if (!stream) throw new CommandFailed(`there is no active stream ${wanted}: see "hoplog stream list"`);
  if (found.length > 1) throw new CommandFailed(`${found.length} streams are called ${wanted}: give the id`);
  return stream;
}

/**
 * Pollers would miss clicks of a stream that is not waited for and still gets some.
 *
 * @throws {CommandFailed}
 */
async function assertStill(
  pool: Pool,
  { stream_id: id, name, visible_before: before }: ListedStream,
): Promise<void> {
  await sleep(MOVES_WITHIN_MS);
  const now = (await listStreams(pool)).find((stream) => stream.stream_id === id);
  if (now?.visible_before === before) return;
  throw new CommandFailed(`stream ${name} moves: stop its process, and wait until its events are stored`);
}
