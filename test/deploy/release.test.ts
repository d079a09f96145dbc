import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sdkVersions } from '../../cli/release/sdks.ts';
import { ROOT, readYaml } from './compose-file.ts';

type Step = {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
};
type Workflow = { jobs: Record<string, { needs?: string | string[]; steps: Step[] }> };

const { jobs } = readYaml('.github/workflows/release.yml') as Workflow;
const steps = Object.values(jobs).flatMap((job) => job.steps);

test('a release publishes the files that the check has tried, and only after it', () => {
  expect(jobs.check?.steps.flatMap(({ run = [] }) => run)).toEqual(
    expect.arrayContaining(['npm run chart:check', 'npm run release:check -- --tag "$GITHUB_REF_NAME"']),
  );
  const [kept] = (jobs.check?.steps ?? []).filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'));
  const [used] = (jobs.publish?.steps ?? []).filter(({ uses }) =>
    uses?.startsWith('actions/download-artifact@'),
  );
  expect(used?.with?.name).toBe(kept?.with?.name);
  expect(kept?.with?.path).toBe('dist/release');
  for (const [name, { needs }] of Object.entries(jobs)) {
    if (name !== 'check') expect([needs].flat(), name).toContain('check');
  }
});

test('the SDKs are published from the files of the check, with the version of the release', () => {
  const published = (jobs.publish?.steps ?? []).map(({ run, uses }) => run ?? uses ?? '').join('\n');
  expect(published).toMatch(/^npm publish --provenance --access public "release\/hoplog-sdk-\$\{.*\.tgz"$/m);
  expect(published).toMatch(
    /cp "release\/hoplog-\$\{GITHUB_REF_NAME#v\}-py3-none-any\.whl" wheels\/\npypa\/gh-action/,
  );
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  expect(new Set(Object.values(sdkVersions()))).toEqual(new Set([version]));
});

test('the image is built for both processors, with its list of parts and its origin', () => {
  const [build] = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  expect(build?.with).toMatchObject({
    platforms: 'linux/amd64,linux/arm64',
    sbom: true,
    provenance: 'mode=max',
    push: true,
  });
});

test.each(readdirSync(`${ROOT}.github/workflows`))('%s runs scripts that exist', (file) => {
  const { jobs } = readYaml(`.github/workflows/${file}`) as Workflow;
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const commands = Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run = [] }) => run));
  expect(commands.length).toBeGreaterThan(0);
  for (const [, name] of commands.join('\n').matchAll(/npm run ([\w:]+)/g)) {
    expect(Object.keys(scripts)).toContain(name);
  }
});

test('what takes too long for each push runs every night', () => {
  const nightly = (file: string) =>
    readYaml(`.github/workflows/${file}`) as Workflow & { on: { schedule?: { cron: string }[] } };
  for (const [file, script] of [
    ['containers.yml', 'npm run test:containers'],
    ['chart.yml', 'npm run chart:check'],
    ['nightly.yml', 'bash .ci/run'],
  ] as const) {
    const { on, jobs } = nightly(file);
    expect(on.schedule?.[0]?.cron, file).toMatch(/^\d+ \d+ \* \* \*$/);
    expect(Object.values(jobs).flatMap((job) => job.steps.map(({ run }) => run))).toContain(script);
  }
  const steps = Object.values(nightly('nightly.yml').jobs).flatMap((job) => job.steps);
  const played = steps.filter(({ run }) => run === 'bash .ci/run').map(({ env }) => env?.NIGHTLY);
  expect(played).toEqual(['true']);
});

test('a release uses the Node.js of the packages', () => {
  const { dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const versions = steps.flatMap(({ with: given }) => given?.['node-version'] ?? []);
  expect(new Set(versions)).toEqual(new Set([dependencies.node]));
});
