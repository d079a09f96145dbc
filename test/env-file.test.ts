import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProgramName } from '../cli/programs/programs.ts';
import { type Ended, run } from './support/hoplog.ts';
import { programArguments } from './support/program.ts';

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'hoplog-env-')));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Runs a program in the directory, where it ends because of the content of `.env`. */
function runInDirectory(name: ProgramName, args: string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const given = { ENV_FILE: undefined, ...env };
  return run(process.execPath, [...programArguments(name), ...args], given, directory);
}

function write(text: string, name = '.env'): void {
  writeFileSync(join(directory, name), text);
}

test.each([
  ['start', 1],
  ['ingest', 78],
  ['workers', 78],
  ['api', 78],
  ['hoplog', 1],
] as const)('%s takes settings from .env of the working directory', async (name, status) => {
  write('LOG_LEVEL=loud\n');
  const ended = await runInDirectory(name, name === 'hoplog' ? ['workspace', 'list'] : []);
  expect(ended).toMatchObject({ status, stdout: '' });
  expect(ended.stderr).toMatch(/^(hoplog: )?setting LOG_LEVEL="loud": [^\n]*\n$/);
});

test('the environment takes precedence, even where it is empty, and without a file only the environment counts', async () => {
  const dataDirOf = async (env: NodeJS.ProcessEnv) => {
    const { stderr } = await runInDirectory('hoplog', ['workspace', 'list'], env);
    return /DATA_DIR=(\S+):/.exec(stderr)?.[1];
  };
  expect(await dataDirOf({})).toBe(join(directory, 'data'));
  write('DATA_DIR=./filed\n');
  expect(await dataDirOf({})).toBe(join(directory, 'filed'));
  expect(await dataDirOf({ DATA_DIR: './given' })).toBe(join(directory, 'given'));
  expect(await dataDirOf({ DATA_DIR: '' })).toBe(join(directory, 'data'));
  expect(await dataDirOf({ ENV_FILE: '' })).toBe(join(directory, 'data'));
  write('DATA_DIR=./other\n', 'other.env');
  expect(await dataDirOf({ ENV_FILE: 'other.env' })).toBe(join(directory, 'other'));
});

test('a file that is unreadable, malformed or missing though it is named is an error that names it', async () => {
  const file = join(directory, '.env');
  const refusal = async (name: ProgramName, env = {}) => {
    const { status, stderr } = await runInDirectory(
      name,
      name === 'hoplog' ? ['workspace', 'list'] : [],
      env,
    );
    return { status, stderr };
  };
  write('API_PORT=3000\nINGEST_PORT 8080\n');
  const malformed = `settings file ${file}: line 2 must be NAME=value\n`;
  expect(await refusal('start')).toEqual({ status: 1, stderr: `hoplog: ${malformed}` });
  expect(await refusal('hoplog')).toEqual({ status: 1, stderr: `hoplog: ${malformed}` });
  for (const tier of ['ingest', 'workers', 'api'] as const) {
    expect(await refusal(tier)).toEqual({ status: 78, stderr: malformed });
  }
  writeFileSync(file, Buffer.from('LOG_LEVEL=caf\xe9\n', 'latin1'));
  expect((await refusal('api')).stderr).toBe(`settings file ${file}: must be UTF-8\n`);
  rmSync(file);
  mkdirSync(file);
  expect((await refusal('api')).stderr).toMatch(/^settings file \S+\/\.env: EISDIR/);
  const missing = await refusal('api', { ENV_FILE: 'missing.env' });
  expect(missing).toEqual({ status: 78, stderr: expect.stringMatching(/missing\.env: ENOENT/) });
});

test('usage is printed whatever the file contains', async () => {
  write('nonsense\n');
  expect((await runInDirectory('hoplog', ['--help'])).status).toBe(0);
  expect((await runInDirectory('hoplog', ['workspace', 'lost'])).status).toBe(2);
});

test('the first setting after a byte order mark is read', async () => {
  write('\uFEFFLOG_LEVEL=loud\nAPI_PORT=0\n');
  const ended = await runInDirectory('hoplog', ['workspace', 'list']);
  expect(ended.stderr).toContain('setting LOG_LEVEL="loud"');
});

test('a home directory in DATA_DIR is the home of the user, and of no other user', async () => {
  write('DATA_DIR=~/hoplog\n');
  const own = await runInDirectory('hoplog', ['workspace', 'list'], { HOME: directory });
  expect(own.stderr).toContain(`DATA_DIR=${join(directory, 'hoplog')}:`);
  write('DATA_DIR=~ada/hoplog\n');
  const another = await runInDirectory('hoplog', ['workspace', 'list']);
  expect(another.stderr).toContain('setting DATA_DIR="~ada/hoplog": must be an absolute or relative path');
});

test('npm start warns about a misspelled setting, with the one that may be meant', async () => {
  write('API_PROT=4000\nJOURNAL_SYNC=sometimes\n');
  const { stderr } = await runInDirectory('start', []);
  expect(stderr).toContain('unknown setting API_PROT has no effect; did you mean API_PORT?');
});
