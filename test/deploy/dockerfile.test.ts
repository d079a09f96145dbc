import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { nodeFlags } from '../../cli/programs/programs.ts';
import { ROOT, readComposeFile } from './compose-file.ts';

const text = readFileSync(`${ROOT}Dockerfile`, 'utf8');
const lines = text.replaceAll('\\\n', ' ').split('\n');
const instructions = (name: string) =>
  lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1).trim());

test('the Dockerfile passes its linter', () => {
  const problems = validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
  expect(problems).toEqual([]);
});

test('its base is pinned to the Node that the packages bring, and fetches nothing by address', () => {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const bases = instructions('FROM')
    .map((from) => from.split(' ')[0] ?? '')
    .filter((base) => !stages.has(base));
  expect(new Set(bases)).toEqual(new Set([`node:${dependencies.node}-bookworm-slim`]));
  expect(instructions('ADD')).toEqual([]);
});

test('it runs as an ordinary user, with a directory for data and a program to start', () => {
  expect(instructions('USER')).toEqual(['node']);
  expect(lines.indexOf('USER node')).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith('RUN ')));
  expect(instructions('VOLUME')).toEqual(['/data']);
  expect(JSON.parse(instructions('ENTRYPOINT')[0] ?? '')[0]).toBe('node');
});

test('what it copies exists, and is let through to the build', () => {
  const allowed = readFileSync(`${ROOT}.dockerignore`, 'utf8').split('\n');
  const copied = instructions('COPY')
    .filter((copy) => !copy.startsWith('--from'))
    .flatMap((copy) => copy.split(' ').slice(0, -1));
  for (const path of copied) {
    expect(existsSync(`${ROOT}${path}`), path).toBe(true);
    expect(allowed, path).toContain(`!${path}`);
  }
});

test('no settings of the machine that builds it get into it', () => {
  const [first, ...rules] = readFileSync(`${ROOT}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(rules.filter((rule) => rule.startsWith('!') && rule.includes('.env'))).toEqual([]);
});

/** Stages by name, the last one under an empty name. */
const stages = new Map(
  text
    .split(/^(?=FROM )/m)
    .slice(1)
    .map((stage) => [/^FROM \S+ AS (\S+)/.exec(stage)?.[1] ?? '', stage]),
);

/** Makes what a stage and those below it copy and run, with the packages of this checkout; answers where. */
function build(name: string, parent: string): string {
  const directory = mkdtempSync(join(parent, `stage-${name}-`));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const made = new Set(['web/dist', 'dist'].map((path) => join(ROOT, path)));
  const lines: string[] = [];
  for (let from = name; ; ) {
    const stage = stages.get(from) ?? '';
    lines.unshift(...stage.split('\n').slice(1));
    from = stage.split(' ')[1] ?? '';
    if (!stages.has(from)) break;
  }
  for (const line of lines) {
    const [instruction, ...rest] = line.split(' ');
    if (instruction === 'COPY') {
      const [, other] = /^--from=(.*)$/.exec(rest[0] ?? '') ?? [];
      if (other === 'runtime-packages') continue;
      const source = other === undefined ? ROOT : build(other, parent);
      const paths = rest.slice(other === undefined ? 0 : 1, -1).map((path) => path.replace(/^\/app\/?/, ''));
      const packages = join(source, 'node_modules');
      for (const path of paths) {
        const filter = (copied: string) => copied !== packages && (other !== undefined || !made.has(copied));
        cpSync(join(source, path), join(directory, path), { recursive: true, filter });
      }
    } else if (instruction === 'RUN' && rest[0] === 'node') {
      execFileSync(process.execPath, rest.slice(1), { cwd: directory, stdio: 'pipe' });
    }
  }
  return directory;
}

test('its stages build what browsers load and every command of the compose file, from what they copy alone', () => {
  const parent = mkdtempSync(join(tmpdir(), 'hoplog-image-'));
  try {
    const image = build('', parent);
    for (const file of ['pixel.js', 'embed.js', 'embed-page.js', 'console/manifest.json']) {
      expect(existsSync(join(image, 'web/dist', file)), file).toBe(true);
    }
    const commands = Object.entries(readComposeFile().services).flatMap(([name, { build, command = [] }]) => {
      const at = command.findIndex((part) => part.endsWith('.js'));
      return build ? [[name, command.slice(0, at), command[at] ?? ''] as const] : [];
    });
    expect(commands.length).toBeGreaterThan(3);
    for (const [name, flags, script] of commands) {
      const env = { INGEST_PORT: 'none', API_PORT: 'none', METRICS_PORT: 'none', DATA_DIR: parent };
      const { stderr } = spawnSync(process.execPath, [...flags, join(image, script), 'none'], {
        env,
        encoding: 'utf8',
      });
      // Read as far as its settings or arguments.
      expect(stderr, name).toMatch(/^(setting \w+_PORT="none"|error: unknown command 'none')/);
    }
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});

test('ingest is started with its flags in containers and by npm, as the supervisor starts it', () => {
  const flags = nodeFlags('ingest');
  const read = (name: string) => JSON.parse(instructions(name)[0] ?? '') as string[];
  const always = read('ENTRYPOINT').slice(1);
  for (const command of [readComposeFile().services['ingest-0']?.command ?? [], read('CMD')]) {
    expect(command.at(-1)).toBe('dist/ingest.js');
    expect([...always, ...command.slice(0, -1)].sort()).toEqual([...flags].sort());
  }
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(scripts['start:ingest']).toBe(`exec node ${flags.join(' ')} dist/ingest.js`);
});
