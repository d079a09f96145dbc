import { existsSync, readFileSync } from 'node:fs';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { readinessUrl, tierOf } from '../../cli/health.ts';
import { nodeFlags } from '../../cli/programs/programs.ts';
import { ROOT, readComposeFile } from './compose-file.ts';
import { readStages } from './dockerfile-stages.ts';

const text = readFileSync(`${ROOT}Dockerfile`, 'utf8');
const stages = readStages();
/** Returns the words of each such instruction, over all stages. */
const instructions = (name: string) =>
  stages.flatMap((stage) => stage.instructions.filter((one) => one.name === name).map(({ words }) => words));
const json = (name: string) => JSON.parse(instructions(name)[0]?.join(' ') ?? '') as string[];

test('the Dockerfile passes its linter', () => {
  const problems = validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
  expect(problems).toEqual([]);
});

test('its base is pinned to the Node.js of the packages, and downloads nothing by address', () => {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const bases = stages.map(({ from }) => from).filter((from) => !stages.some(({ name }) => name === from));
  expect(new Set(bases)).toEqual(new Set([`node:${dependencies.node}-bookworm-slim`]));
  expect(instructions('ADD')).toEqual([]);
});

test('it runs as an ordinary numeric user, with a directory for data and a program to start', () => {
  expect(instructions('USER')).toEqual([['1000:1000']]);
  const order = stages.at(-1)?.instructions.map(({ name }) => name) ?? [];
  expect(order.indexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'));
  expect(instructions('VOLUME')).toEqual([['/data']]);
  // The base's, which runs a command, such as `hoplog`, and passes anything else to Node.js.
  expect(json('ENTRYPOINT')).toEqual(['docker-entrypoint.sh']);
});

test('its health check asks the tier that the container runs', () => {
  const [words = []] = instructions('HEALTHCHECK');
  expect(words.slice(words.indexOf('CMD')).join(' ')).toBe('CMD ["node", "dist/health.js"]');
  for (const [name, { image, command = [] }] of Object.entries(readComposeFile().services)) {
    if (image === 'hoplog:local' && name !== 'migrate')
      expect(tierOf(command), name).toBe(name.split('-')[0]);
  }
  expect(tierOf(json('CMD'))).toBe('ingest');
});

test('its health check asks where the tier listens', () => {
  const env = { HOST: '::', METRICS_HOST: '10.0.0.7' };
  expect(readinessUrl('api', env)).toBe('http://127.0.0.1:3000/health/ready');
  expect(readinessUrl('workers', env)).toBe('http://10.0.0.7:9464/health/ready');
});

test('its labels are the facts of the package', () => {
  const labels = Object.fromEntries(
    [
      ...(instructions('LABEL')[0]?.join(' ') ?? '').matchAll(/org\.opencontainers\.image\.(\w+)="([^"]+)"/g),
    ].map(([, name, value]) => [name, value]),
  );
  const { description, license, repository } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(description).toContain(labels.description);
  expect(repository.url).toBe(`git+${labels.source}.git`);
  expect(labels).toMatchObject({ title: 'Hoplog', licenses: license });
});

test('what it copies exists, and is not ignored by the build', () => {
  const rules = readFileSync(`${ROOT}.dockerignore`, 'utf8').split('\n');
  const allowed = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const copied = instructions('COPY')
    .filter(([first]) => !first?.startsWith('--from'))
    .flatMap((words) => words.slice(0, -1));
  for (const path of copied) {
    expect(existsSync(`${ROOT}${path}`), path).toBe(true);
    expect(
      allowed.some((one) => path === one || path.startsWith(`${one}/`)),
      path,
    ).toBe(true);
  }
});

test('no settings of the build machine get into it', () => {
  const [first, ...rules] = readFileSync(`${ROOT}.dockerignore`, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(rules.filter((rule) => rule.startsWith('!') && rule.includes('.env'))).toEqual([]);
});

test.each(['ingest', 'workers', 'api'] as const)(
  '%s has the same flags in containers, in the chart, and by npm',
  (name) => {
    const flags = nodeFlags(name);
    const [, always] = /NODE_OPTIONS=(\S+)/.exec(text) ?? [];
    const { services } = readComposeFile();
    const commands = [
      services[`${name}-0`]?.command,
      chartArguments(name),
      ...(name === 'ingest' ? [json('CMD')] : []),
    ];
    for (const command of commands) {
      expect(command?.at(-1)).toBe(`dist/${name}.js`);
      expect([always, ...(command?.slice(0, -1) ?? [])].sort()).toEqual([...flags].sort());
    }
    const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    expect(scripts[`start:${name}`]).toBe(`exec node ${flags.join(' ')} dist/${name}.js`);
  },
);

/** Arguments of a tier's container in the templates of the chart. */
function chartArguments(name: string): string[] {
  const file = name === 'workers' ? 'workers.yaml' : 'writers.yaml';
  const template = readFileSync(`${ROOT}deploy/helm/hoplog/templates/${file}`, 'utf8');
  const [, list = ''] = new RegExp(`args: \\[(.*dist/${name}\\.js)\\]`).exec(template) ?? [];
  return list.split(', ');
}
