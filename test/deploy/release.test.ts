import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, readYaml } from './compose-file.ts';

type Step = { run?: string; uses?: string; with?: Record<string, unknown> };
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

test('the image is built for both processors, with its list of parts and its origin', () => {
  const [build] = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  expect(build?.with).toMatchObject({
    platforms: 'linux/amd64,linux/arm64',
    sbom: true,
    provenance: 'mode=max',
    push: true,
  });
});

test('workflows run scripts that exist, with the Node.js of the packages', () => {
  const { scripts, dependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  const names = steps.flatMap(({ run = '' }) =>
    [...run.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name),
  );
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) expect(Object.keys(scripts)).toContain(name);
  const versions = steps.flatMap(({ with: given }) => given?.['node-version'] ?? []);
  expect(new Set(versions)).toEqual(new Set([dependencies.node]));
});
