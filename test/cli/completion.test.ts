import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hoplog } from '../support/hoplog.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';

/** The completion scripts, in the shells themselves, where they call the command. */

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-shell-'));
  const command = [process.execPath, ...programArguments('hoplog')].map((word) => `'${word}'`).join(' ');
  writeFileSync(join(directory, 'hoplog'), `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(join(directory, 'hoplog'), 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function inShell(shell: string, args: string[]): string {
  const env = { ...PROGRAM_ENV, PATH: `${directory}:${PROGRAM_ENV.PATH}`, HOME: directory, TERM: 'dumb' };
  return execFileSync(shell, args, { env, encoding: 'utf8' });
}

const isMissing = (shell: string) => spawnSync(shell, ['-c', 'true']).status !== 0;

test('bash completes commands, options, values, lists, and operations', () => {
  const lines = [
    'hoplog links cr',
    'hoplog links create --ch',
    'hoplog query --by country,ci',
    'hoplog query --by time:d',
    'hoplog call links.getQ',
    'hoplog --json clicks export --format ',
  ];
  const script = `source <(hoplog completion bash)
    try() { COMP_LINE=$1 COMP_POINT=\${#1} COMPREPLY=(); _hoplog; echo "\${COMPREPLY[*]}"; }
    ${lines.map((line) => `try '${line}'`).join('\n')}`;
  expect(inShell('bash', ['-c', script]).trim().split('\n')).toEqual([
    'create',
    '--channel',
    'country,city',
    'day',
    'links.getQr links.getQrStyle',
    'csv ndjson parquet',
  ]);
});

test('fish completes, with what a command does beside it', ({ skip }) => {
  skip(isMissing('fish'), 'there is no fish');
  const script =
    'hoplog completion fish | source; complete -C "hoplog links cr"; complete -C "hoplog call me.g"';
  expect(inShell('fish', ['-c', script])).toMatch(/^create\tcreate a link; .*\nme\.get\n$/);
});

test('zsh completes', ({ skip }) => {
  skip(isMissing('zsh'), 'there is no zsh');
  // A terminal of its own: the completion of zsh needs its line editor.
  const script = `zmodload zsh/zpty
    zpty z zsh -f -i
    zpty -w z "PS1='> '; autoload -Uz compinit; compinit -D -u; source <(hoplog completion zsh); echo re''ady"
    zpty -r -m z out '*ready*'
    zpty -w -n z $'hoplog call links.getQ\\t'
    zpty -r -m z out '*links.getQr*' && echo completed`;
  expect(inShell('zsh', ['-f', '-c', script])).toMatch(/completed\n$/);
});

test('an unknown shell is wrong usage', async () => {
  const ended = await hoplog(['completion', 'tcsh'], {});
  expect(ended).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/Allowed choices are bash, zsh, fish/),
  });
});
