import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../core/settings/config.ts';
import { ROOT, readYaml } from '../deploy/compose-file.ts';
import { writeCrdSchemas, writeKubernetesSchemas } from './crd-schemas.ts';

const CHART = `${ROOT}deploy/helm/hoplog`;
const KUBERNETES = ['1.29.0', '1.37.0'] as const;
const ORIGINS = ['shortUrl=https://go.example', 'baseUrl=https://api.example'];
const EXTERNAL = [...ORIGINS, 'kafka.brokers=kafka-1:9092\\,kafka-2:9092'];
const BUNDLED = [...ORIGINS, 'postgres.bundled=true', 'clickhouse.bundled=true', 'kafka.bundled=true'];

/** Installations that a person may want, by name: values for `--set`. */
const INSTALLATIONS: Record<string, string[]> = {
  'external databases': EXTERNAL,
  'bundled databases': BUNDLED,
  'autoscaling, Ingress, and monitoring': [
    ...EXTERNAL,
    ...['ingest', 'api', 'workers'].map((tier) => `${tier}.autoscaling.enabled=true`),
    ...['serviceMonitor', 'rules', 'dashboard'].map((part) => `monitoring.${part}.enabled=true`),
    'ingress.enabled=true',
    'ingress.redirects.hosts={go.example,my.example}',
    'ingress.redirects.tlsSecret=go-tls',
    'ingress.api.hosts={api.example}',
    'ingest.service.type=LoadBalancer',
  ],
  'brokers with TLS and SASL, a private registry, and chosen nodes': [
    ...EXTERNAL,
    'kafka.tls=true',
    'kafka.caSecret=kafka-ca',
    'kafka.saslMechanism=scram-sha-512',
    'kafka.username=hoplog',
    'image.pullSecrets={registry,mirror}',
    'image.digest=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'ingest.nodeSelector.disk=fast',
    'ingest.tolerations[0].operator=Exists',
    'ingest.priorityClassName=high',
    'ingest.podAnnotations.team=growth',
    'workers.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=kubernetes.io/hostname',
    'settings.LOG_LEVEL=debug',
  ],
  'limited networks': [
    ...BUNDLED,
    'networkPolicy.visitorsFrom[0].namespaceSelector.matchLabels.name=ingress',
    'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring',
    'networkPolicy.extraEgress[0].ports[0].port=4318',
    'ingest.volume.storageClass=fast',
    'kafka.volume.storageClass=fast',
  ],
};

type Container = {
  name: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  volumeMounts?: object[];
  securityContext?: object;
  resources?: { limits?: { memory?: string } };
};
type Resource = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: {
    replicas?: number;
    groups?: unknown;
    template: { spec: { securityContext: object; containers: Container[]; volumes?: object[] } };
    [field: string]: unknown;
  };
  data?: Record<string, string>;
};

const schemas = mkdtempSync(join(tmpdir(), 'hoplog-chart-'));
const known = new Set<string>();

beforeAll(() => {
  for (const folder of [process.env.PROMETHEUS_CRDS, process.env.CHART_CRDS]) {
    if (folder) for (const kind of writeCrdSchemas(folder, schemas)) known.add(kind);
  }
});

afterAll(() => rmSync(schemas, { recursive: true }));

/** Runs helm. @throws Error with its standard error */
function helm(...args: string[]): string {
  return execFileSync('helm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function render(sets: string[], ...args: string[]): string {
  return helm(
    'template',
    'hoplog',
    CHART,
    '--kube-version',
    KUBERNETES[1],
    ...sets.flatMap((one) => ['--set', one]),
    ...args,
  );
}

function resources(text: string): Resource[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Resource | null)
    .filter((one) => one !== null);
}

const ofKind = (all: Resource[], kind: string, name: string) => {
  const found = all.find((one) => one.kind === kind && one.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
};

describe.each(Object.entries(INSTALLATIONS))('with %s', (_, sets) => {
  test('helm lint reports nothing', () => {
    const printed = helm('lint', '--strict', CHART, ...sets.flatMap((one) => ['--set', one]));
    expect(printed).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  test.each(KUBERNETES)('every resource follows the schemas of Kubernetes %s and of operators', (version) => {
    const text = render(sets, '--kube-version', version); // The last one counts.
    const rendered = resources(text);
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

  test('every container of a pod is locked up and has a memory limit', () => {
    const pods = resources(render(sets)).filter(({ spec }) => spec?.template?.spec?.containers);
    expect(pods.length).toBeGreaterThan(3);
    for (const { metadata, spec } of pods) {
      expect(spec.template.spec, metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: expect.any(Number) },
      });
      for (const { securityContext, resources: given } of spec.template.spec.containers) {
        expect(securityContext, metadata.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(given?.limits?.memory, metadata.name).toBeTruthy();
      }
    }
  });

  test('every process gets settings that it accepts, and its pod is its stream', () => {
    const all = resources(render(sets));
    for (const [kind, tier] of [
      ['StatefulSet', 'ingest'],
      ['StatefulSet', 'api'],
      ['Deployment', 'workers'],
    ] as const) {
      const [container] = ofKind(all, kind, `hoplog-${tier}`).spec.template.spec.containers;
      const env = container?.env ?? [];
      const secrets = {
        DATABASE_URL: 'postgres://a:b@c/d',
        CLICKHOUSE_URL: 'http://a:b@c:1',
        KAFKA_PASSWORD: 'e',
      };
      const plain = Object.fromEntries(
        env.filter(({ value }) => value).map(({ name, value }) => [name, value]),
      );
      const config = readConfig({ ...secrets, ...plain });
      expect(config.kafkaBrokers.length).toBeGreaterThan(0);
      expect(config.shortUrl).toBe('https://go.example');
      const stream = env.find(({ name }) => name === 'STREAM_NAME');
      const fromPod = { name: 'STREAM_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
      expect(stream).toEqual(tier === 'workers' ? undefined : fromPod);
    }
  });
});

test('blocked domains are a file that ingest and API read', () => {
  const all = resources(render([...EXTERNAL, 'blockedDomains={bad.example,worse.example}']));
  const { data } = ofKind(all, 'ConfigMap', 'hoplog-blocked-domains');
  expect(data).toEqual({ domains: 'bad.example\nworse.example' });
  for (const tier of ['ingest', 'api']) {
    const { spec } = ofKind(all, 'StatefulSet', `hoplog-${tier}`).spec.template;
    expect(spec.containers[0]?.env).toContainEqual({
      name: 'BLOCKED_DOMAINS_FILE',
      value: '/etc/hoplog/blocked/domains',
    });
    const mount = { name: 'blocked-domains', mountPath: '/etc/hoplog/blocked', readOnly: true };
    expect(spec.containers[0]?.volumeMounts).toContainEqual(mount);
    const volume = { name: 'blocked-domains', configMap: { name: 'hoplog-blocked-domains' } };
    expect(spec.volumes).toContainEqual(volume);
  }
  expect(() => render([...EXTERNAL, 'blockedDomains={https://bad.example}'])).toThrow(/blockedDomains/);
});

test('a stream name has at most 40 characters, however long the release is named', () => {
  const long = 'r'.repeat(53);
  const text = helm(
    'template',
    long,
    CHART,
    '--kube-version',
    '1.37.0',
    ...EXTERNAL.flatMap((one) => ['--set', one]),
  );
  for (const { kind, metadata } of resources(text)) {
    if (kind === 'StatefulSet') expect(`${metadata.name}-399`.length).toBeLessThanOrEqual(40);
  }
});

test('alerts and dashboard are rendered as they are deployed elsewhere', () => {
  const all = resources(render(INSTALLATIONS['autoscaling, Ingress, and monitoring'] ?? []));
  expect(ofKind(all, 'PrometheusRule', 'hoplog').spec).toEqual(readYaml('deploy/prometheus/alerts.yml'));
  const dashboard = ofKind(all, 'ConfigMap', 'hoplog-dashboard').data?.['hoplog.json'] ?? '';
  expect(JSON.parse(dashboard)).toEqual(readYaml('deploy/grafana/dashboards/hoplog.json'));
});

test('migrations run before anything else, but after bundled databases at the first installation', () => {
  const hooks = { 'helm.sh/hook': 'pre-install,pre-upgrade' };
  const annotations = (text: string) => {
    const jobs = resources(text).filter(({ kind }) => kind === 'Job');
    expect(jobs).toHaveLength(1);
    return jobs[0]?.metadata.annotations;
  };
  expect(annotations(render(EXTERNAL))).toMatchObject(hooks);
  expect(annotations(render(BUNDLED))).toBeUndefined();
  expect(annotations(render(BUNDLED, '--is-upgrade'))).toMatchObject(hooks);
});

test('autoscaling adds writers and never removes one', () => {
  const all = resources(render(INSTALLATIONS['autoscaling, Ingress, and monitoring'] ?? []));
  for (const tier of ['ingest', 'api']) {
    const { behavior } = ofKind(all, 'HorizontalPodAutoscaler', `hoplog-${tier}`).spec;
    expect(behavior).toEqual({ scaleDown: { selectPolicy: 'Disabled' } });
    expect(ofKind(all, 'StatefulSet', `hoplog-${tier}`).spec.replicas).toBeUndefined();
  }
});

test.each([
  ['no origin', ['kafka.brokers=a:1'], /shortUrl must be the origin/],
  ['no brokers', ORIGINS, /kafka\.brokers must be addresses/],
  ['a setting of the chart', [...EXTERNAL, 'settings.DATA_DIR=/x'], /settings/],
  ['an unknown value', [...EXTERNAL, 'ingest.replica=3'], /replica/],
  ['a path in an origin', [...EXTERNAL, 'baseUrl=https://api.example/v1'], /baseUrl/],
])('values with %s are refused, and the message names it', (_, sets, message) => {
  expect(() => render(sets)).toThrow(message);
});
