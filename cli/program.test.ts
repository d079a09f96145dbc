import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { NO_UUID } from '../test/support/stored-events.ts';
import { createProgram, report } from './program.ts';

/** Runs a command in this process. A command with an error of usage ends before it reads a setting. */
async function run(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const program = await createProgram(args);
  const write = (command: Command): void => {
    command.configureOutput({
      writeOut(text) {
        written.stdout += text;
      },
      writeErr(text) {
        written.stderr += text;
      },
    });
    for (const child of command.commands) write(child);
  };
  write(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return { status: 0, ...written };
  } catch (error) {
    return { status: report(error), ...written };
  }
}

test.each([
  ['nothing', []],
  ['an unknown command', ['frobnicate']],
  ['an unknown subcommand', ['workspace', 'frobnicate']],
  ['an unknown option', ['workspace', 'list', '--frobnicate']],
  ['a group alone', ['workspace']],
  ['a missing option', ['workspace', 'create']],
  ['an unknown plan', ['workspace', 'create', '--name', 'x', '--plan', 'gold']],
  ['a blank name', ['workspace', 'create', '--name', ' ']],
  ['a domain with a path', ['workspace', 'create', '--name', 'x', '--domain', 'https://x.example/']],
  ['a window of zero days', ['workspace', 'set', '--workspace', 'x', '--attribution-window', '0']],
  ['an unknown currency', ['workspace', 'set', '--workspace', 'x', '--currency', 'zzz']],
  ['an unknown kind of key', ['key', 'create', '--workspace', 'x', '--kind', 'partner']],
  ['an invitation without a valid email', ['console', 'invite', '--workspace', 'x', '--email', 'ann']],
  ['an unknown role', ['console', 'invite', '--workspace', 'x', '--role', 'boss']],
  ['an import without a file', ['import', 'links', '--workspace', 'x']],
  ['an unknown channel', ['import', 'links', '--workspace', 'x', '--channel', 'fax', 'links.csv']],
  ['a rate without a base', ['rate', 'set', '--currency', 'eur', '--rate', '1.08']],
  ['a visitor that is not a UUID', ['visitor', 'delete', '--workspace', 'x', '--visitor', 'ann']],
  ['the nil UUID as a visitor', ['visitor', 'delete', '--workspace', 'x', '--visitor', NO_UUID]],
  ['one argument too many', ['workspace', 'list', 'all']],
])('%s is wrong usage: status 2, the reason on standard error', async (_, args) => {
  const ended = await run(...args);
  expect(ended).toMatchObject({ status: 2, stdout: '' });
  expect(ended.stderr).not.toBe('');
});

test('an unknown channel is rejected with the list of channels', async () => {
  const ended = await run('import', 'links', '--workspace', 'x', '--channel', 'fax', 'links.csv');
  expect(ended.stderr).toMatch(/must be one of facebook, .*, or smart/);
});

test.each([
  ['currency', ['--currency', 'zzz', '--base', 'usd', '--rate', '1']],
  ['base', ['--currency', 'eur', '--base', 'xau', '--rate', '1']],
  ['base', ['--currency', 'usd', '--base', 'USD', '--rate', '1']],
  ...[
    '0',
    '0.000',
    '-1',
    '1e3',
    'Infinity',
    'NaN',
    '1,08',
    '',
    '0x1',
    `1${'0'.repeat(400)}`,
    `0.${'0'.repeat(400)}1`,
  ].map((rate): [string, string[]] => ['rate', ['--currency', 'eur', '--base', 'usd', '--rate', rate]]),
])('an invalid %s is wrong usage, and the error names the option', async (option, args) => {
  const ended = await run('rate', 'set', ...args);
  expect(ended).toMatchObject({ status: 2, stdout: '' });
  expect(ended.stderr).toMatch(new RegExp(`option '--${option} <.*is invalid`));
});

test.each([
  ['an option', ['workspace', 'create', '--name', '\x1b[31mx']],
  ['a command', ['\x1b[31mx']],
  ['an unknown option', ['workspace', 'list', '--\x1b[31mx']],
])('the error about %s is printed with its control characters escaped', async (_, args) => {
  const { stderr } = await run(...args);
  expect(stderr).toContain('\\u001b[31mx');
  expect(stderr).not.toContain('\x1b');
});

test('every command of the guide is valid usage', async () => {
  const guide = readFileSync(new URL('../docs/command-line.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, code = '']) => code.split('\n'));
  const lines = blocks.flatMap((line) => /(?:^|\()(hoplog [^>)#]*)/.exec(line)?.[1] ?? []);
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    const [, ...args] = line.match(/'[^']*'|[^\s']+/g) ?? [];
    const words = args.map((word) => word.replace(/^'|'$/g, ''));
    const program = await createProgram(words);
    const done: string[] = [];
    const without = (command: Command): void => {
      command.action(() => void done.push(line));
      for (const child of command.commands) without(child);
    };
    for (const command of program.commands) without(command);
    await program.parseAsync(words, { from: 'user' });
    expect(done, line).toEqual([line]);
  }
});
