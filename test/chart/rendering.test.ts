import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { fileSettingOf, SECRET_SETTINGS } from '../../core/settings/secrets.ts';
import { readYaml } from '../deploy/compose-file.ts';
import { imageEnvironment } from '../deploy/dockerfile-stages.ts';
import { BUNDLED, EXTERNAL, INSTALLATIONS, ORIGINS } from './installations.ts';
import { findResource, NO_HELM, type Resource, renderChart, type Values } from './rendering.ts';

type Rules = { groups: { rules: { alert: string; expr: string }[] }[] };

/** Templates of a ClickHouseInstallation. */
type ServerTemplates = {
  podTemplates: {
    metadata: { labels: Record<string, string> };
    spec: {
      containers: { image: string }[];
      topologySpreadConstraints?: {
        topologyKey: string;
        labelSelector: { matchLabels: Record<string, string> };
      }[];
    };
  }[];
};

const hasPromtool = () => spawnSync('promtool', ['--version']).status === 0;

const WRITERS = ['ingest', 'api'] as const;
const TIERS = [...WRITERS, 'workers'] as const;

const podOf = (all: Resource[], tier: (typeof TIERS)[number]) =>
  findResource(all, tier === 'workers' ? 'Deployment' : 'StatefulSet', `hoplog-${tier}`).spec.template;
const jobOf = (all: Resource[]) => {
  const [job, ...others] = all.filter(
    ({ kind, metadata }) => kind === 'Job' && /-migrate/.test(metadata.name),
  );
  if (!job || others.length > 0) throw new Error('the chart renders not one Job of migrations');
  return job;
};
const environmentOf = ({ spec }: { spec: Resource['spec']['template']['spec'] }) =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
const mountsOf = ({ spec }: { spec: Resource['spec']['template']['spec'] }) =>
  spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath);

describe.skipIf(NO_HELM)(`the rendered chart${NO_HELM ? ` (skipped: ${NO_HELM})` : ''}`, () => {
  const render = (values: Values, isUpgrade = false) => renderChart(values, { isUpgrade }).resources;

  describe.each(Object.entries<Values>(INSTALLATIONS))('with %s', (_, values) => {
    test('every container of a pod is locked up and has a memory limit', () => {
      const pods = render(values).filter(({ spec }) => spec?.template?.spec?.containers);
      expect(pods.length).toBeGreaterThan(3);
      for (const { metadata, spec } of pods) {
        expect(spec.template.spec, metadata.name).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: expect.any(Number) },
        });
        for (const { securityContext, resources } of spec.template.spec.containers) {
          expect(securityContext, metadata.name).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            // Caddy's file has this capability, without which the kernel does not start it.
            capabilities: metadata.name.endsWith('-domain-proxy')
              ? { drop: ['ALL'], add: ['NET_BIND_SERVICE'] }
              : { drop: ['ALL'] },
          });
          expect(resources?.limits?.memory, metadata.name).toBeTruthy();
        }
      }
    });

    test('every process gets settings that it accepts, each once, and its pod is its stream', () => {
      const all = render(values);
      for (const tier of TIERS) {
        const [container] = podOf(all, tier).spec.containers;
        const env = container?.env ?? [];
        expect(new Set(env.map(({ name }) => name)).size, tier).toBe(env.length);
        const plain = env.filter(({ name, value }) => value && !name.endsWith('_FILE'));
        const config = readConfig({
          DATABASE_URL: 'postgres://a:b@c/d',
          CLICKHOUSE_URL: 'http://a:b@c:1',
          KAFKA_PASSWORD: 'e',
          ...Object.fromEntries(plain.map(({ name, value }) => [name, value])),
        });
        expect(config.kafkaBrokers.length).toBeGreaterThan(0);
        expect(config.shortUrl).toBe('https://go.example');
        const stream = env.find(({ name }) => name === 'STREAM_NAME');
        const fromPod = { name: 'STREAM_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
        expect(stream).toEqual(tier === 'workers' ? undefined : fromPod);
      }
    });

    test('no secret is in an environment, and each file of one is mounted with its directory', () => {
      const all = render(values);
      for (const pod of [...TIERS.map((tier) => podOf(all, tier)), jobOf(all).spec.template]) {
        const environment = environmentOf(pod);
        for (const secret of SECRET_SETTINGS) {
          const url = environment[secret];
          if (url !== undefined) expect(new URL(url).password, secret).toBe('');
          const file = environment[fileSettingOf(secret)];
          if (file !== undefined) expect(mountsOf(pod)).toContain(file.slice(0, file.lastIndexOf('/')));
        }
        expect(
          pod.spec.containers[0]?.env?.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
        ).toEqual([]);
      }
    });
  });

  test('processes listen on every address of the pod, for any image', () => {
    for (const tier of TIERS) {
      expect(environmentOf(podOf(render(EXTERNAL), tier))).toMatchObject({ HOST: '::', METRICS_HOST: '::' });
    }
    // Pods that others describe, and containers.
    expect(imageEnvironment()).toMatchObject({ HOST: '::', METRICS_HOST: '::' });
  });

  test('a process gets the files of its secrets alone: the owner is for migrations, Kafka for the others', () => {
    const keys = (pod: { spec: Resource['spec']['template']['spec'] }) =>
      Object.keys(environmentOf(pod)).flatMap((name) => /^(\w+)_FILE$/.exec(name)?.[1] ?? []);
    const databases = ['CLICKHOUSE_PASSWORD', 'CLICKHOUSE_URL', 'DATABASE_PASSWORD', 'DATABASE_URL'];
    const owner = ['DATABASE_OWNER_PASSWORD', 'DATABASE_OWNER_URL'];
    const kafka = { brokers: 'a:1', saslMechanism: 'plain', username: 'u' };
    const all = render({ ...EXTERNAL, kafka, secretKeys: { OIDC_CLIENT_SECRET: true } });
    expect(keys(podOf(all, 'api')).toSorted()).toEqual(
      [...databases, 'BLOCKED_DOMAINS', 'KAFKA_PASSWORD', 'OIDC_CLIENT_SECRET'].toSorted(),
    );
    expect(keys(jobOf(all).spec.template).toSorted()).toEqual([...databases, ...owner].toSorted());
    const bundled = render(BUNDLED);
    expect(keys(podOf(bundled, 'api')).toSorted()).toEqual(
      ['BLOCKED_DOMAINS', 'CLICKHOUSE_PASSWORD', 'DATABASE_PASSWORD', 'KAFKA_PASSWORD'].toSorted(),
    );
    const volumes = podOf(bundled, 'api').spec.volumes ?? [];
    const strimzi = { name: 'hoplog', items: [{ key: 'password', path: 'KAFKA_PASSWORD' }] };
    expect(volumes.find(({ name }) => name === 'secrets')?.projected?.sources).toContainEqual({
      secret: strimzi,
    });
  });

  test('a file that values name replaces the key of the Secret', () => {
    const all = render(INSTALLATIONS['secrets that another program writes']);
    for (const pod of [podOf(all, 'ingest'), jobOf(all).spec.template]) {
      expect(environmentOf(pod)).toMatchObject({
        DATABASE_PASSWORD_FILE: '/vault/secrets/database',
        DATABASE_URL_FILE: '/etc/hoplog/secrets/DATABASE_URL',
      });
      expect(mountsOf(pod)).toContain('/vault/secrets');
    }
  });

  test('a policy has a rule for each server that a setting names, for the tiers that reach it', () => {
    const egress = (values: Values, tier: string) =>
      findResource(render(values), 'NetworkPolicy', `hoplog-${tier}`).spec.egress;
    const settings = {
      OIDC_ISSUER: 'https://identity.example/realms/shop',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://[fd00::7]:4318/otlp',
      DNS_SERVERS: '9.9.9.9, 127.0.0.1:5353,[2620:fe::fe]:5353',
    };
    const dns = { ports: ['UDP', 'TCP'].map((protocol) => ({ port: 5353, protocol })) };
    const [oidc, traces] = [{ ports: [{ port: 443 }] }, { ports: [{ port: 4318 }] }];
    const rules = (tier: string) => egress({ ...EXTERNAL, settings }, tier);
    expect(rules('api')).toEqual(expect.arrayContaining([dns, oidc, traces]));
    expect(rules('workers')).toEqual(expect.arrayContaining([dns, traces]));
    expect(rules('workers')).not.toContainEqual(oidc);
    expect(rules('ingest')).not.toContainEqual(traces);
    for (const rule of [dns, oidc, traces]) expect(egress(EXTERNAL, 'api')).not.toContainEqual(rule);
    const collector = { podSelector: { matchLabels: { app: 'collector' } } };
    const smtp = { ports: [25, 465, 587, 2525].map((port) => ({ port })) };
    const withMail = {
      ...EXTERNAL,
      secretKeys: { SMTP_URL: true },
      settings: { MAIL_FROM: 'a@shop.example' },
    };
    expect(egress(withMail, 'workers')).toContainEqual(smtp);
    expect(egress(withMail, 'api')).not.toContainEqual(smtp);
    expect(egress(EXTERNAL, 'workers')).not.toContainEqual(smtp);
    const networkPolicy = {
      oidc: { ports: [8443, 9443] },
      traces: { peers: [collector] },
    };
    expect(egress({ ...EXTERNAL, settings, networkPolicy }, 'api')).toEqual(
      expect.arrayContaining([{ ports: [{ port: 8443 }, { port: 9443 }] }, { ...traces, to: [collector] }]),
    );
  });

  test('blocked domains are a file that ingest and API read', () => {
    const all = render({ ...EXTERNAL, blockedDomains: ['bad.example', 'worse.example'] });
    const { data } = findResource(all, 'ConfigMap', 'hoplog-blocked-domains');
    expect(data).toEqual({ domains: 'bad.example\nworse.example' });
    for (const tier of WRITERS) {
      const pod = podOf(all, tier);
      expect(environmentOf(pod)).toMatchObject({ BLOCKED_DOMAINS_FILE: '/etc/hoplog/blocked/domains' });
      const mount = { name: 'blocked-domains', mountPath: '/etc/hoplog/blocked', readOnly: true };
      expect(pod.spec.containers[0]?.volumeMounts).toContainEqual(mount);
      const volume = { name: 'blocked-domains', configMap: { name: 'hoplog-blocked-domains' } };
      expect(pod.spec.volumes).toContainEqual(volume);
    }
  });

  test('a stream name has at most 40 characters, however long the release is named', () => {
    for (const { kind, metadata } of renderChart(EXTERNAL, { name: 'r'.repeat(53) }).resources) {
      if (kind === 'StatefulSet') expect(`${metadata.name}-399`.length).toBeLessThanOrEqual(40);
    }
  });

  test('alerts and dashboard are rendered as they are deployed elsewhere', () => {
    const all = render(INSTALLATIONS['autoscaling, Ingress, and monitoring']);
    const { groups } = findResource(all, 'PrometheusRule', 'hoplog').spec as unknown as Rules;
    expect({ groups: groups.slice(0, -1) }).toEqual(readYaml('deploy/prometheus/alerts.yml'));
    const dashboard = findResource(all, 'ConfigMap', 'hoplog-dashboard').data?.['hoplog.json'] ?? '';
    expect(JSON.parse(dashboard)).toEqual(readYaml('deploy/grafana/dashboards/hoplog.json'));
  });

  test('Prometheus fires when fewer processes run than values ask for, or none ever did', (context) => {
    context.skip(!hasPromtool(), 'promtool of Prometheus is not installed');
    const all = render({ ...EXTERNAL, monitoring: { rules: { enabled: true } } });
    const { groups } = findResource(all, 'PrometheusRule', 'hoplog').spec as unknown as Rules;
    const started = (tier: string, instance: string) => ({
      series: `process_start_time_seconds{job="hoplog",release="default.hoplog",tier="${tier}",instance="${instance}"}`,
      values: '7x30',
    });
    const firing = (tier: string, ...more: string[]) => {
      const labels = { alertname: 'ProcessesMissing', alertstate: 'firing', severity: 'page', tier };
      const pairs = Object.entries({ ...labels, release: 'default.hoplog' });
      return {
        labels: `ALERTS{${[...pairs.map(([name, value]) => `${name}="${value}"`), ...more].join()}}`,
        value: 1,
      };
    };
    const directory = mkdtempSync(join(tmpdir(), 'hoplog-rules-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'rules.json'), JSON.stringify({ groups: groups.slice(-1) }));
    const path = join(directory, 'test.json');
    const check = {
      rule_files: ['rules.json'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          // Of three ingest processes one is missing, of two API processes none; no worker has ever started.
          input_series: [
            started('ingest', 'a'),
            started('ingest', 'b'),
            started('api', 'a'),
            started('api', 'b'),
          ],
          promql_expr_test: [
            {
              expr: 'ALERTS{alertstate="firing"}',
              eval_time: '20m',
              exp_samples: [firing('ingest'), firing('workers', 'job="hoplog"')],
            },
          ],
        },
      ],
    };
    writeFileSync(path, JSON.stringify(check));
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' });
    expect(stdout + stderr).toContain('SUCCESS');
  });

  test('a Prometheus without its operator finds the pods by annotations, beside those of values', () => {
    const scrape = {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': '9464',
      'prometheus.io/path': '/metrics',
    };
    const all = render({
      ...EXTERNAL,
      monitoring: { scrapeAnnotations: true },
      api: { podAnnotations: { team: 'growth', 'prometheus.io/path': '/other' } },
    });
    expect(podOf(all, 'workers').metadata.annotations).toEqual(scrape);
    expect(podOf(all, 'api').metadata.annotations).toEqual({
      ...scrape,
      team: 'growth',
      'prometheus.io/path': '/other',
    });
    expect(podOf(render(EXTERNAL), 'workers').metadata.annotations).toBeUndefined();
  });

  test('an Ingress has its own annotations over those of both', () => {
    const all = render(INSTALLATIONS['autoscaling, Ingress, and monitoring']);
    const annotations = (tier: string) => findResource(all, 'Ingress', `hoplog-${tier}`).metadata.annotations;
    expect(annotations('ingest')).toEqual({ issuer: 'letsencrypt' });
    expect(annotations('api')).toEqual({ issuer: 'letsencrypt', 'body-size': '20m' });
  });

  test('the memory limit of ingest decides how many links it holds, unless settings do', () => {
    const held = (ingest: Values, settings: Values = {}) => {
      const all = render({ ...EXTERNAL, ingest, settings });
      const name = 'INGEST_LINKS_IN_MEMORY';
      expect(environmentOf(podOf(all, 'api'))[name]).toBe(settings[name]);
      return environmentOf(podOf(all, 'ingest'))[name];
    };
    const withLimit = (memory: string) => ({ resources: { limits: { memory } } });
    expect(held({})).toBe('5124000');
    expect(held(withLimit('8Gi'))).toBe('10981000');
    expect(held(withLimit('8589934592'))).toBe('10981000');
    expect(held(withLimit('1500M'))).toBe('1313000');
    expect(held(withLimit('256Mi'))).toBe('10000');
    // Helm takes null for a value to leave out.
    expect(held(withLimit(null as never))).toBeUndefined();
    expect(held({}, { INGEST_LINKS_IN_MEMORY: 'all' })).toBe('all');
  });

  test('every pod that the chart itself makes has the labels of values', () => {
    const pods = render({ ...BUNDLED, commonLabels: { team: 'growth' } }).filter(
      ({ kind }) => kind === 'StatefulSet' || kind === 'Deployment' || kind === 'Job',
    );
    expect(pods.map(({ metadata }) => metadata.name)).toContain('hoplog-postgres');
    for (const { metadata, spec } of pods) {
      expect(spec.template.metadata.labels, metadata.name).toMatchObject({ team: 'growth' });
    }
  });

  describe('with a Gateway, certificates for domains of workspaces, and additions to pods', () => {
    const values = INSTALLATIONS['a Gateway, certificates for domains of workspaces, and additions to pods'];
    const all = () => render(values);

    test('every resource has the labels and annotations of values, beside its own', () => {
      for (const { kind, metadata } of all()) {
        expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({ team: 'growth' });
        expect(metadata.annotations, `${kind} ${metadata.name}`).toMatchObject({ cost: 'marketing' });
      }
      const { metadata } = podOf(all(), 'ingest');
      expect(metadata.labels).toMatchObject({ team: 'growth', mesh: 'on', 'hoplog.dev/metrics': 'true' });
      // They are what selects the pods: a label of values must not change it.
      const selector = findResource(all(), 'StatefulSet', 'hoplog-ingest').spec.selector;
      expect(JSON.stringify(selector)).not.toContain('team');
    });

    test('a pod has the containers, variables, and authorities that values add', () => {
      const { containers, initContainers } = podOf(all(), 'ingest').spec;
      expect(containers.map(({ name }) => name)).toEqual(['ingest', 'proxy']);
      expect(initContainers).toHaveLength(1);
      const jobs = all().filter(({ kind }) => kind === 'Job');
      expect(jobs).toHaveLength(2);
      for (const pod of [
        ...TIERS.map((tier) => podOf(all(), tier)),
        ...jobs.map(({ spec }) => spec.template),
      ]) {
        expect(environmentOf(pod)).toMatchObject({ NODE_EXTRA_CA_CERTS: '/etc/hoplog/ca/ca.crt' });
        expect(Object.keys(environmentOf(pod))).toContain('NODE_IP');
        expect(mountsOf(pod)).toContain('/etc/hoplog/ca');
        const items = [{ key: 'ca.crt', path: 'ca.crt' }];
        expect(pod.spec.volumes).toContainEqual({ name: 'ca', secret: { secretName: 'authorities', items } });
      }
    });

    test('a Service has the port and the load balancer of values, and routes lead to that port', () => {
      expect(findResource(all(), 'Service', 'hoplog-ingest').spec).toMatchObject({
        type: 'LoadBalancer',
        loadBalancerClass: 'service.k8s.aws/nlb',
        loadBalancerSourceRanges: ['203.0.113.0/24'],
        externalTrafficPolicy: 'Local',
        ports: [{ name: 'http', port: 80, targetPort: 'http' }],
      });
      const route = findResource(all(), 'HTTPRoute', 'hoplog-ingest');
      expect(route.metadata.annotations).toMatchObject({ timeout: '5s' });
      expect(route.spec).toEqual({
        parentRefs: [{ name: 'public', namespace: 'gateways' }],
        hostnames: ['go.example'],
        rules: [{ backendRefs: [{ name: 'hoplog-ingest', port: 80 }] }],
      });
      const api = findResource(all(), 'HTTPRoute', 'hoplog-api').spec;
      expect(api.rules).toEqual([{ backendRefs: [{ name: 'hoplog-api', port: 3000 }] }]);
    });

    test('the proxy for domains has the shipped configuration, on ports that need no right', (context) => {
      context.skip(spawnSync('caddy', ['version']).status !== 0, 'caddy is not installed');
      const { data } = findResource(all(), 'ConfigMap', 'hoplog-domain-proxy');
      const { env: variables } =
        findResource(all(), 'Deployment', 'hoplog-domain-proxy').spec.template.spec.containers[0] ?? {};
      const environment = Object.fromEntries((variables ?? []).map(({ name, value }) => [name, value]));
      const directory = mkdtempSync(join(tmpdir(), 'hoplog-caddy-'));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const file = join(directory, 'Caddyfile');
      writeFileSync(file, data?.Caddyfile ?? '');
      const env = { PATH: process.env.PATH, HOME: directory, ...environment };
      const args = ['adapt', '--adapter', 'caddyfile', '--config', file];
      const { stdout, stderr } = spawnSync('caddy', args, { env, encoding: 'utf8' });
      const { apps } = JSON.parse(stdout || stderr) as {
        apps: { http: { http_port: number; https_port: number }; tls: { automation: unknown } };
      };
      expect(apps.http).toMatchObject({ http_port: 8080, https_port: 8443 });
      const automation = JSON.stringify(apps.tls.automation);
      expect(automation).toContain('"http://hoplog-domains:9464/tls/allowed"');
      expect(automation).toContain('"https://acme.example/directory"');
      const served = JSON.stringify(apps.http);
      for (const dial of ['hoplog-ingest:80', 'hoplog-api:3000'])
        expect(served).toContain(`"dial":"${dial}"`);
      expect(served).toContain('go.example');
    });

    test('the proxy for domains may ask ingest, although values limit who reads metrics', () => {
      const [, metrics] = findResource(all(), 'NetworkPolicy', 'hoplog-ingest').spec.ingress as {
        from: unknown[];
      }[];
      expect(JSON.stringify(metrics?.from)).toContain('"app.kubernetes.io/component":"domain-proxy"');
      const [api] =
        (findResource(all(), 'NetworkPolicy', 'hoplog-workers').spec.ingress as { from: unknown[] }[]) ?? [];
      expect(JSON.stringify(api?.from)).not.toContain('domain-proxy');
    });

    test.each<[string, Values, RegExp]>([
      ['a Gateway without a name', { gateway: { ...values.gateway, parentRefs: [] } }, /gateway\.parentRefs/],
      ['no account', { domainProxy: { enabled: true } }, /domainProxy\.email/],
      ['no trusted networks', { trustProxy: '' }, /trustProxy must contain/],
      ['a name of a variable that is missing', { extraEnv: [{ value: 'x' }] }, /extraEnv/],
    ])('values with %s are refused, and the message names it', (_, change, message) => {
      expect(() => render({ ...values, ...change })).toThrow(message);
    });
  });

  test('Strimzi spreads replicas by a label of nodes, and manages topics, if values say so', () => {
    const kafka = (values: Values) => findResource(render(values), 'Kafka', 'hoplog').spec;
    const zones = INSTALLATIONS['brokers of Strimzi in three zones, for other applications too'];
    expect(kafka(zones)).toMatchObject({
      kafka: { rack: { topologyKey: 'topology.kubernetes.io/zone' } },
      entityOperator: { userOperator: {}, topicOperator: {} },
    });
    expect(kafka(BUNDLED)).not.toHaveProperty('kafka.rack');
    expect(kafka(BUNDLED).entityOperator).toEqual({ userOperator: {} });
  });

  test('the Job of migrations has a place and a deadline, and every pod the given account', () => {
    const all = render(INSTALLATIONS['brokers with TLS and SASL, a private registry, and chosen nodes']);
    const { spec } = jobOf(all);
    expect(spec).toMatchObject({ activeDeadlineSeconds: 3600 });
    expect(spec.template.spec).toMatchObject({
      nodeSelector: { disk: 'fast' },
      tolerations: [{ operator: 'Exists' }],
      imagePullSecrets: [{ name: 'registry' }, { name: 'mirror' }],
    });
    for (const pod of [...TIERS.map((tier) => podOf(all, tier)), spec.template]) {
      expect(pod.spec).toMatchObject({ serviceAccountName: 'hoplog', automountServiceAccountToken: false });
    }
  });

  test('the bundled ClickHouse lets its user create those of analysts', () => {
    const { spec } = findResource(render(BUNDLED), 'ClickHouseInstallation', 'hoplog');
    expect(spec).toMatchObject({ configuration: { users: { 'hoplog/access_management': 1 } } });
  });

  test('each bundled replica of ClickHouse is an installation of its own, on another host, and is reached', () => {
    const all = render(INSTALLATIONS['two replicas of ClickHouse']);
    const servers = all.filter(({ kind }) => kind === 'ClickHouseInstallation');
    expect(servers.map(({ metadata }) => metadata.name)).toEqual(['hoplog', 'hoplog-second']);
    const pods = servers.map(({ spec }) => (spec.templates as ServerTemplates).podTemplates[0]);
    expect(pods.map((pod) => pod?.spec.containers[0]?.image)).toEqual([
      'clickhouse/clickhouse-server:26.7',
      'clickhouse/clickhouse-server:26.8',
    ]);
    for (const pod of pods) {
      for (const { labelSelector } of pod?.spec.topologySpreadConstraints ?? [])
        expect(pod?.metadata.labels).toMatchObject(labelSelector.matchLabels);
      expect(pod?.spec.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
        'kubernetes.io/hostname',
        'topology.kubernetes.io/zone',
      ]);
    }
    const policies = all
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .map((policy) => JSON.stringify(policy));
    const reaching = (name: string) =>
      policies.filter((text) => text.includes(`{"clickhouse.altinity.com/chi":"${name}"}`)).length;
    expect([reaching('hoplog'), reaching('hoplog-second')]).toEqual([3, 3]);
    for (const pod of [podOf(all, 'api'), podOf(all, 'workers'), jobOf(all).spec.template])
      expect(environmentOf(pod)).toMatchObject({
        CLICKHOUSE_REPLICAS: 'main,second',
        CLICKHOUSE_URL: 'http://hoplog@clickhouse-hoplog:8123',
        CLICKHOUSE_SECOND_URL: 'http://clickhouse-hoplog-second:8123',
      });
  });

  test('the address of an external replica is a key of the Secret', () => {
    const all = render({ ...EXTERNAL, clickhouse: { replicas: ['main', 'berlin-2'] } });
    for (const pod of [podOf(all, 'api'), jobOf(all).spec.template])
      expect(environmentOf(pod)).toMatchObject({
        CLICKHOUSE_REPLICAS: 'main,berlin-2',
        CLICKHOUSE_URL_FILE: '/etc/hoplog/secrets/CLICKHOUSE_URL',
        CLICKHOUSE_BERLIN_2_URL_FILE: '/etc/hoplog/secrets/CLICKHOUSE_BERLIN_2_URL',
      });
  });

  test('migrations run before anything else, but after bundled databases at the first installation', () => {
    const hooks = { 'helm.sh/hook': 'pre-install,pre-upgrade' };
    expect(jobOf(render(EXTERNAL)).metadata.annotations).toMatchObject(hooks);
    expect(jobOf(render(BUNDLED)).metadata.annotations).toBeUndefined();
    expect(jobOf(render(BUNDLED, true)).metadata.annotations).toMatchObject(hooks);
  });

  test('autoscaling adds writers and never removes one', () => {
    const all = render(INSTALLATIONS['autoscaling, Ingress, and monitoring']);
    for (const tier of WRITERS) {
      const { behavior } = findResource(all, 'HorizontalPodAutoscaler', `hoplog-${tier}`).spec;
      expect(behavior).toEqual({ scaleDown: { selectPolicy: 'Disabled' } });
      expect(findResource(all, 'StatefulSet', `hoplog-${tier}`).spec.replicas).toBeUndefined();
    }
  });

  test.each<[string, Values, RegExp]>([
    ['no origin', { kafka: { brokers: 'a:1' } }, /shortUrl must be the origin/],
    ['no brokers', ORIGINS, /kafka\.brokers must be addresses/],
    ['a setting of the chart', { ...EXTERNAL, settings: { DATA_DIR: '/x' } }, /DATA_DIR/],
    ['a secret in clear', { ...EXTERNAL, settings: { AWS_SECRET_ACCESS_KEY: 'x' } }, /AWS_SECRET_ACCESS_KEY/],
    ['a key that is no secret', { ...EXTERNAL, secretKeys: { LOG_LEVEL: true } }, /LOG_LEVEL/],
    ['an unknown value', { ...EXTERNAL, ingest: { replica: 3 } }, /replica/],
    ['a path in an origin', { ...EXTERNAL, baseUrl: 'https://api.example/v1' }, /baseUrl/],
    ['a URL as a domain', { ...EXTERNAL, blockedDomains: ['https://bad.example'] }, /blockedDomains/],
  ])('values with %s are refused, and the message names it', (_, values, message) => {
    expect(() => render(values)).toThrow(message);
  });
});
