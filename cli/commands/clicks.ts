import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { Click } from '../../sdk/typescript/src/generated/types.ts';
import type { Hoplog } from '../../sdk/typescript/src/hoplog.ts';
import type { PollState } from '../../sdk/typescript/src/poll.ts';
import { wholeNumber } from '../arguments.ts';
import { writePrivate } from '../embedded/secret-file.ts';
import { CommandFailed, isJson, printResult, WrongUsage } from '../output.ts';
import { filterOption, given, instant, several } from '../user/arguments.ts';
import { writeBody } from '../user/byte-output.ts';
import { CLICK_HEADER, clickLine } from '../user/click-lines.ts';
import { userClient } from '../user/client.ts';
import { namedLink } from '../user/named-link.ts';

type Chosen = { link?: string[]; filter?: Record<string, string>; since?: string };
type PollCommand = Chosen & { state?: string; once?: boolean };
type ExportCommand = Chosen & {
  format: 'csv' | 'ndjson' | 'parquet';
  days?: number;
  from?: string;
  to?: string;
  output?: string;
};

const withChoice = (command: Command) =>
  command
    .option('--link <link>', 'only clicks of this link: id, address, or slug; several times', several)
    .addOption(filterOption());

/** `hoplog clicks tail | poll | export`. */
export function clicksCommands(program: Command): void {
  const group = program.command('clicks').description('clicks of the workspace');

  withChoice(group.command('tail'))
    .description('show clicks as they come, within a second, until it is interrupted')
    .option('--since <time>', 'begin with clicks of this instant, at most a day back', instant)
    .action(async ({ link, filter, since }: Chosen, command: Command) => {
      const hoplog = userClient();
      const linkIds = await idsOf(hoplog, link);
      const write = writerOf(command);
      for await (const click of hoplog.clicks.live(given({ linkIds, filter, since }))) await write([click]);
    });

  withChoice(group.command('poll'))
    .description('print each click once, and continue from the state of the last run')
    .option('--since <time>', 'begin with clicks of this instant; with the first click by default', instant)
    .option('--state <file>', 'continue from this file, and store the state in it after each page')
    .option('--once', 'end when all clicks are read, instead of waiting for more')
    .action(async (options: PollCommand, command: Command) => {
      await poll(userClient(), options, writerOf(command));
    });

  withChoice(group.command('export'))
    .description('write the clicks of a window to standard output or a file')
    .addOption(
      new Option('--format <format>', 'form of the file')
        .choices(['csv', 'ndjson', 'parquet'])
        .default('csv'),
    )
    .option('--days <n>', 'length of the window, back from --to', wholeNumber(1, 36_500))
    .option('--from <time>', 'start of the window', instant)
    .option('--to <time>', 'end of the window, exclusive; now by default', instant)
    .option('--output <file>', 'write to this file')
    .action(async ({ link, filter, since: _, output, ...window }: ExportCommand, command: Command) => {
      if (isJson(command) && output === undefined) {
        throw new WrongUsage('--json needs --output for the clicks');
      }
      const hoplog = userClient();
      const linkIds = await idsOf(hoplog, link);
      const query = { ...filter, ...given(window), ...(linkIds && { link_ids: linkIds }) };
      const response = (await hoplog.clicks.export(query)) as Response;
      const bytes = await writeBody(response, output ?? null);
      if (output === undefined) return;
      printResult(command, { file: output, bytes }, () => `${output}: ${bytes.toLocaleString('en')} bytes`);
    });
}

async function idsOf(hoplog: Hoplog, links: string[] | undefined): Promise<string[] | undefined> {
  if (links === undefined) return undefined;
  const ids: string[] = [];
  for (const link of links) ids.push((await namedLink(hoplog, link)).id);
  return ids;
}

/**
 * Returns what prints clicks: a line of JSON each with `--json`, else columns of text. It resolves once they are
 * written, so that a state is not stored before.
 */
function writerOf(command: Command): (clicks: readonly Click[]) => Promise<void> {
  const json = isJson(command);
  let hasHeader = json || !process.stdout.isTTY;
  return async (clicks) => {
    const lines = clicks.map((click) => (json ? JSON.stringify(click) : clickLine(click)));
    if (!hasHeader) lines.unshift(CLICK_HEADER);
    hasHeader = true;
    if (lines.length > 0 && !process.stdout.write(`${lines.join('\n')}\n`)) {
      await once(process.stdout, 'drain');
    }
  };
}

async function poll(
  hoplog: Hoplog,
  options: PollCommand,
  write: (clicks: readonly Click[]) => Promise<void>,
): Promise<void> {
  const { filter, since, state: file } = options;
  const linkIds = await idsOf(hoplog, options.link);
  const state = file === undefined ? undefined : stateIn(file);
  const of = { linkIds, filter, ...(state === undefined ? { since } : { state }) };
  const onOutage = (error: Error) => void process.stderr.write(`hoplog: ${error.message}; waiting\n`);
  for await (const batch of hoplog.clicks.poll(given({ ...of, onOutage })).batches()) {
    await write(batch.clicks);
    // A killed command gets the last page again, and loses none.
    if (file !== undefined) writePrivate(file, `${JSON.stringify(batch.state)}\n`);
    if (options.once && batch.state.round === undefined) return;
  }
}

/** Returns the state of an earlier poll; undefined before the first one. @throws {CommandFailed} */
function stateIn(path: string): PollState | undefined {
  if (!existsSync(path) || statSync(path).size === 0) return undefined;
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as Partial<PollState>;
    if (typeof state.since === 'string' && Array.isArray(state.seen)) return state as PollState;
  } catch {
    // Says the same as a file with other content.
  }
  throw new CommandFailed(`${path} is not the state of a poll: name another file, or remove it`);
}
