import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../deploy/compose-file.ts';
import { writeCrdSchemas, writeKubernetesSchemas } from './crd-schemas.ts';
import { BUNDLED, INSTALLATIONS } from './installations.ts';
import { type Resource, renderChart, resourcesOf, type Values } from './rendering.ts';

const CHART = `${ROOT}deploy/helm/hoplog`;
const KUBERNETES = ['1.29.0', '1.37.0'] as const;

const schemas = mkdtempSync(join(tmpdir(), 'hoplog-chart-'));
const known = new Set<string>();

beforeAll(() => {
  for (const folder of [process.env.PROMETHEUS_CRDS, process.env.CHART_CRDS]) {
    if (folder) for (const kind of writeCrdSchemas(folder, schemas)) known.add(kind);
  }
});

afterAll(() => rmSync(schemas, { recursive: true }));

/** Runs helm with values. @throws Error with its standard error */
function helm(values: Values, ...args: string[]): string {
  const input = JSON.stringify(values);
  return execFileSync('helm', [...args, '--values', '-'], { encoding: 'utf8', input, stdio: 'pipe' });
}

const template = (values: Values, ...args: string[]) =>
  helm(values, 'template', 'hoplog', CHART, '--kube-version', KUBERNETES[1], ...args);

const inOrder = (resources: Resource[]) =>
  resources.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));

test.each([
  ...Object.entries(INSTALLATIONS).map(([name, values]) => [name, values, false] as const),
  ['an upgrade', BUNDLED, true] as const,
])('with %s, helm renders what the tests of CI render', (_, values, isUpgrade) => {
  const printed = template(values, ...(isUpgrade ? ['--is-upgrade'] : []));
  expect(inOrder(resourcesOf(printed))).toEqual(inOrder(renderChart(values, { isUpgrade }).resources));
});

describe.each(Object.entries(INSTALLATIONS))('with %s', (_, values) => {
  test('helm lint reports nothing', () => {
    const printed = helm(values, 'lint', '--strict', CHART);
    expect(printed).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test.each(KUBERNETES)('every resource follows the schemas of Kubernetes %s and of operators', (version) => {
    const text = template(values, '--kube-version', version); // The last one counts.
    const rendered = resourcesOf(text);
    const kinds = new Set(rendered.map(({ kind }) => kind));
    const kubernetes = join(schemas, version);
    writeKubernetesSchemas(
      `${process.env.KUBERNETES_SCHEMAS}/v${version}-local-strict`,
      kubernetes,
      rendered,
    );
    const own = ['ClickHouseInstallation', 'Kafka', 'KafkaNodePool', 'KafkaUser'];
    const unknown = own.filter((kind) => kinds.has(kind) && !known.has(kind));
    if (unknown.length > 0) process.stdout.write(`no schema of ${unknown.join(', ')}: set CHART_CRDS\n`);
    const { status, stdout } = spawnSync(
      'kubeconform',
      [
        '-strict',
        '-summary',
        '-kubernetes-version',
        version,
        ...(unknown.length > 0 ? ['-skip', unknown.join(',')] : []),
        '-schema-location',
        `${kubernetes}/{{.ResourceKind}}{{.KindSuffix}}.json`,
        '-schema-location',
        `${schemas}/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json`,
      ],
      { input: text, encoding: 'utf8' },
    );
    expect(stdout).toMatch(/Summary: [1-9]\d* resources found .* Invalid: 0, Errors: 0/);
    expect(status).toBe(0);
  });
});
