import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { isUuid } from '../../core/ids.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { hasOpenCorrections, requestClockReset } from '../../sql/event-log/clock-corrections.ts';
import { type ListedStream, listStreams, retireStream } from '../../sql/event-log/streams.ts';
import { CommandFailed, printResult, table } from '../output.ts';
import { MOST_AHEAD_SECONDS } from '../status.ts';
import { withStores } from '../stores.ts';

/** A stream of a running process advances at least every ten seconds when idle, and later under load. */
const ADVANCES_WITHIN_MS = 12_000;

/**
 * A writer whose clock is ahead checks for a request every two seconds; its event then reaches the workers through the
 * log.
 */
const RESET_WITHIN_MS = 60_000;
const POLL_MS = 500;

/** `hoplog stream list | retire | reset-clock`. */
export function streamCommands(program: Command): void {
  const group = program.command('stream').description('journals of the processes that record events');
  group
    .command('list')
    .description(
      'list all streams with the time up to which their events are visible; the oldest active one holds the watermark',
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
    .description('remove a stream whose writer will never return from the watermark')
    .action(async (wanted: string, _options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const stream = await stopped(pool, wanted);
        if (!(await retireStream(pool, stream.stream_id))) {
          throw new CommandFailed(`stream ${wanted} is already retired`);
        }
        return { retired: stream.stream_id, name: stream.name };
      });
      printResult(command, result, ({ retired, name }) => `${name} (${retired}) is retired`);
    });

  group
    .command('reset-clock [stream]')
    .description(
      "correct the times of streams and stored events that are ahead of the clock; correct the machine's clock first",
    )
    .action(async (wanted: string | undefined, _options: object, command: Command) => {
      const result = await withStores(({ pool }) => resetClocks(pool, wanted));
      printResult(command, result, ({ reset }) =>
        reset.length === 0 ? 'no stream is ahead of the clock' : `corrected: ${reset.join(', ')}`,
      );
    });
}

/** Returns streams ahead of both this machine's clock and PostgreSQL's, with the smaller lead in seconds. */
async function aheadStreams(pool: Pool): Promise<(ListedStream & { seconds: number })[]> {
  const { rows } = await pool.query<{ now: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  );
  const now = Math.max(Date.now(), rows[0]?.now ?? 0);
  if (now - Math.min(Date.now(), rows[0]?.now ?? now) > MOST_AHEAD_SECONDS * 1_000) {
    throw new CommandFailed(
      `this machine's clock (${new Date().toISOString()}) and PostgreSQL's (${new Date(rows[0]?.now ?? 0).toISOString()}) disagree: correct them first`,
    );
  }
  return (await listStreams(pool))
    .filter(({ state }) => state === 'active')
    .map((stream) => ({ ...stream, seconds: stream.visible_before / 1e6 - now / 1e3 }))
    .filter(({ seconds }) => seconds > MOST_AHEAD_SECONDS);
}

/**
 * Requests a reset of streams that are ahead, and waits until their clocks and stored events are corrected.
 *
 * @throws {CommandFailed} on timeout; the request remains in effect
 */
async function resetClocks(pool: Pool, wanted: string | undefined): Promise<{ reset: string[] }> {
  const ahead = await aheadStreams(pool);
  const only = wanted === undefined ? null : oneOf(await listStreams(pool), wanted).stream_id;
  const streams = ahead.filter((stream) => only === null || stream.stream_id === only);
  await requestClockReset(
    pool,
    streams.map((stream) => stream.stream_id),
  );
  const deadline = performance.now() + RESET_WITHIN_MS;
  for (;;) {
    const left = (await aheadStreams(pool)).filter(({ stream_id: id }) =>
      streams.some((one) => one.stream_id === id),
    );
    const isCorrected = !(await hasOpenCorrections(pool));
    if (left.length === 0 && isCorrected) return { reset: streams.map(({ name }) => name) };
    if (performance.now() > deadline) {
      const what =
        left.length > 0
          ? `${left.map(({ name }) => name).join(', ')} are still ahead of the clock`
          : 'stored events are not corrected yet';
      throw new CommandFailed(
        `${what}: the request remains in effect; the writer and the workers must run (see "hoplog status")`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** Returns the stream with this id, or the active ones with this name. @throws {CommandFailed} when there is none */
function allOf(streams: ListedStream[], wanted: string): [ListedStream, ...ListedStream[]] {
  const [first, ...others] = streams.filter((stream) =>
    isUuid(wanted)
      ? stream.stream_id === wanted.toLowerCase()
      : stream.name === wanted && stream.state === 'active',
  );
  if (!first)
    throw new CommandFailed(`no active stream has the id or name ${wanted}: run "hoplog stream list"`);
  return [first, ...others];
}

/** Returns the only stream with this id or name. @throws {CommandFailed} */
function oneOf(streams: ListedStream[], wanted: string): ListedStream {
  const [stream, ...others] = allOf(streams, wanted);
  if (others.length > 0)
    throw new CommandFailed(`${others.length + 1} streams have the name ${wanted}: use the id`);
  return stream;
}

/**
 * Returns the stream to retire, which does not advance: pollers would miss its later clicks. Of several with a name,
 * one may be that of a process with a new volume.
 *
 * @throws {CommandFailed} when it advances, or several of the name do not
 */
async function stopped(pool: Pool, wanted: string): Promise<ListedStream> {
  const before = allOf(await listStreams(pool), wanted);
  const [only] = before;
  if (before.length === 1 && only.state === 'retired') return only;
  await sleep(ADVANCES_WITHIN_MS);
  const now = await listStreams(pool);
  const standing = before.filter(
    ({ stream_id: id, visible_before: at }) =>
      now.find((stream) => stream.stream_id === id)?.visible_before === at,
  );
  const [stream, ...others] = standing;
  if (!stream) {
    throw new CommandFailed(
      `stream ${only.name} still advances: stop its process and wait until its events are stored`,
    );
  }
  if (others.length > 0) {
    const ids = standing.map(({ stream_id: id }) => id).join(', ');
    throw new CommandFailed(
      `${standing.length} streams have the name ${wanted}, and none of them advances: use the id (${ids})`,
    );
  }
  return stream;
}
