import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { adviceOn } from '../core/databases/advice.ts';
import { AppError } from '../core/errors.ts';
import { TargetFailed } from '../core/file-targets/target.ts';
import { loadEnvFile } from '../core/settings/env-file.ts';
import { SettingsError } from '../core/settings/settings-error.ts';
import { HoplogError } from '../sdk/typescript/src/errors.ts';
import { addCommands, isUserCommand } from './commands/index.ts';
import { CommandFailed, shownLines, WrongUsage } from './output.ts';

const USAGE = 2;
const FAILURE = 1;

export const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * Returns the program `hoplog`, with the command that the arguments name.
 *
 * @param args without `node` and the script
 */
export async function createProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('hoplog')
    .version(version)
    .description('Uses a workspace of Hoplog through its API, and operates a service through its databases.')
    .option('--json', 'print JSON on standard output')
    .exitOverride()
    .hook('preAction', (_program, action) => {
      if (!isUserCommand(topOf(action).name())) loadEnvFile();
    })
    .showHelpAfterError('(run with --help for usage)');
  await addCommands(program, args);
  escapeErrors(program);
  for (const command of program.commands) withJson(command);
  return program;
}

/** Returns the command of the program that a subcommand belongs to. */
function topOf(command: Command): Command {
  return command.parent?.parent ? topOf(command.parent) : command;
}

/** Escapes arguments in commander's own messages. */
function escapeErrors(command: Command): void {
  command.configureOutput({ outputError: (text, write) => write(shownLines(text)) });
}

/** Returns what to do about an error of a call; for one of the API its page, and the id for its logs. */
function helpOf({ status, code, requestId, docUrl }: HoplogError): string {
  if (status === 401) return 'run "hoplog login" with a valid key, or set HOPLOG_KEY';
  if (status === 0) return 'check the address: "hoplog whoami" calls the service, "hoplog login" changes it';
  if (code === 'unexpected_response')
    return 'a proxy, or another program, answered: check the address, which "hoplog whoami" calls';
  return [docUrl && `see ${docUrl}`, requestId && `request ${requestId}`].filter(Boolean).join(', ');
}

/** Accepts `--json` after every command, in addition to before it. */
function withJson(command: Command): void {
  command.exitOverride();
  escapeErrors(command);
  if (command.commands.length === 0) command.option('--json', 'print JSON on standard output');
  for (const child of command.commands) withJson(child);
}

/** Whether the message alone tells the operator what to do. */
function isExplained(error: unknown): boolean {
  return [CommandFailed, SettingsError, TargetFailed].some((kind) => error instanceof kind);
}

/**
 * Writes the reason of a failed command to standard error, unless commander has.
 *
 * @returns the exit status
 */
export function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE; // commander has printed the error
  const message = error instanceof Error ? error.message : String(error);
  // Messages contain names from users.
  const write = (text: string) => process.stderr.write(`${shownLines(text)}\n`);
  write(`hoplog: ${message}`);
  if (error instanceof HoplogError) {
    // The message says the first one.
    for (const detail of error.details.slice(1)) write(`  ${detail.path}: ${detail.message}`);
    write(`  ${helpOf(error)}`);
  } else if (error instanceof AppError) {
    for (const detail of error.details ?? []) write(`  ${detail.path}: ${detail.message}`);
  } else if (!isExplained(error) && error instanceof Error) {
    for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
      write(`  because: ${cause.message}`);
    }
    const advice = adviceOn(error);
    if (advice !== null) write(`  ${advice.message} (${advice.page})`);
  }
  return isWrongUsage(error) ? USAGE : FAILURE;
}

/** Whether another argument or option value is needed: the command refuses the given one, or the API does. */
function isWrongUsage(error: unknown): boolean {
  if (error instanceof HoplogError || error instanceof AppError) return error.code === 'bad_request';
  return error instanceof WrongUsage;
}
