import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Link, makeLink, untilClicks } from '../support/first-click.ts';
import { NO_KAFKA_PROCESSES } from '../support/kafka.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';
import type { Ready } from '../support/service.ts';
import { onPostgres } from '../support/shared-servers.ts';
import { LIMIT_MS, until } from '../support/until.ts';
import { type InstalledChart, installChart } from './installed-chart.ts';
import { hasNftables } from './network-policies.ts';
import { canMakeNetworks } from './pod-network.ts';
import { findResource, NO_HELM } from './rendering.ts';
import { startIssuer, type TestIssuer } from './test-issuer.ts';

const SKIPPED =
  NO_HELM ||
  NO_KAFKA_PROCESSES ||
  (!canMakeNetworks() && 'only root may make networks and mount volumes') ||
  (!hasNftables() && 'no nftables is installed: apt-get install nftables');

describe.skipIf(SKIPPED)(`the pods of the chart${SKIPPED ? ` (skipped: ${SKIPPED})` : ''}`, () => {
  let installed: InstalledChart;
  let provider: TestIssuer;
  let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
  let key: string;

  beforeAll(async () => {
    provider = await startIssuer('https://identity.example:9443');
    collector = await startOtlpReceiver();
    installed = await installChart(
      {
        ingest: { replicas: 2 },
        api: { replicas: 1 },
        workers: { replicas: 1 },
        settings: {
          OIDC_ISSUER: provider.issuer,
          OIDC_CLIENT_ID: 'hoplog',
          OIDC_ALLOWED_DOMAINS: 'shop.example',
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
          NODE_EXTRA_CA_CERTS: '/etc/authority/ca.crt',
        },
        extraVolumes: [{ name: 'authority', secret: { secretName: 'authority' } }],
        extraVolumeMounts: [{ name: 'authority', mountPath: '/etc/authority', readOnly: true }],
      },
      async (cluster) => {
        cluster.setSecret('authority', { 'ca.crt': provider.certificate });
        await cluster.name('identity.example', 9443, provider.place);
        const { hostname: host, port } = new URL(collector.endpoint);
        await cluster.name('collector.example', 4318, { host, port: Number(port) });
      },
    );
    await installed.cluster.untilReady();
  }, 300_000);
  afterAll(async () => {
    await installed?.close();
    await collector?.close();
    await provider?.close();
  });

  const origin = (host: string, port: number) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const api = (): Ready => {
    const { ipv4 } = installed.cluster.service('hoplog-api');
    return { api_url: `${origin(ipv4, 3000)}/api/v1` } as Ready;
  };

  test('each is ready by its probes, and none was restarted', () => {
    const pods = installed.cluster.pods();
    expect(pods.map(({ name }) => name).toSorted()).toEqual([
      'hoplog-api-0',
      'hoplog-ingest-0',
      'hoplog-ingest-1',
      'hoplog-workers-0',
    ]);
    for (const { name, state } of pods) {
      expect(state(), `${name}: ${installed.cluster.log()}`).toMatchObject({ isReady: true, restarts: 0 });
    }
  });

  test('the commands of the notes run: status finds every part, and a workspace is created', async () => {
    const commands = [...installed.rendering.notes.matchAll(/statefulset\/(\S+) -- (.*?\\\n.*|.*)/g)];
    expect(commands).toHaveLength(2);
    const [status, create] = await Promise.all(
      commands.map(([, name, command = '']) => {
        const words = command.replace('\\\n', ' ').replace('NAME', 'Shop').trim().split(/\s+/);
        return installed.cluster.pod(`${name}-0`).exec(words);
      }),
    );
    expect(status?.status, status?.output).toBe(0);
    expect(create?.status, create?.output).toBe(0);
    key = /lk_live_\w+/.exec(create?.output ?? '')?.[0] ?? '';
    expect(key).not.toBe('');
  });

  test.each(['ipv4', 'ipv6'] as const)(
    'a click goes in by the port of a Service and comes out of the API, over %s',
    async (family) => {
      const link = await makeLink(api(), key, `Over ${family}`);
      const { pathname } = new URL(link.short_url);
      const address = origin(installed.cluster.service('hoplog-ingest')[family], 8080);
      // The address that the load balancer names, which is in the United Kingdom.
      const headers = { 'x-forwarded-for': '81.2.69.142', 'user-agent': BROWSER };
      const response = await fetch(address + pathname, { redirect: 'manual', headers });
      expect(response.status).toBe(302);
      const clicks = await until(
        'the click',
        async () => {
          const read = await fetch(`${api().api_url}/clicks?link_id=${link.id}`, {
            headers: { authorization: `Bearer ${key}` },
          });
          return ((await read.json()) as { clicks: { country: string }[] }).clicks;
        },
        (seen) => seen.length > 0,
      );
      expect(clicks).toMatchObject([{ country: 'GB' }]);
    },
  );

  test.each(['ipv4', 'ipv6'] as const)('each is scraped from outside, over %s', async (family) => {
    for (const { name, address, labels, ports } of installed.cluster.pods()) {
      // The label and the port that the ServiceMonitor selects.
      expect(labels, name).toMatchObject({ 'hoplog.dev/metrics': 'true' });
      const port = ports?.find((one) => one.name === 'metrics')?.containerPort ?? 0;
      const component = labels['app.kubernetes.io/component'] ?? '';
      // The metrics that the autoscaler of workers reads. They exist once a lane has begun.
      const expected =
        component === 'workers' ? 'hoplog_worker_lag_seconds{partition=' : `tier="${component}"`;
      const scrape = async () => await (await fetch(`${origin(address[family], port)}/metrics`)).text();
      await expect.poll(scrape, { message: name, timeout: LIMIT_MS }).toContain(expected);
    }
  });

  test('a proxy can ask whether it may get a certificate', async () => {
    const { ipv4 } = installed.cluster.service('hoplog-domains');
    const response = await fetch(`${origin(ipv4, 9464)}/tls/allowed?domain=unknown.example`);
    expect([response.status, await response.json()]).toEqual([404, { allowed: false }]);
  });

  test('the API reaches the provider that settings name, and its traces and those of workers the collector', async () => {
    const { ipv4 } = installed.cluster.service('hoplog-api');
    const begun = await fetch(`${origin(ipv4, 3000)}/console/oidc/start`, { redirect: 'manual' });
    expect(begun.headers.get('location')).toMatch(/^https:\/\/identity\.example:9443\/authorize\?/);
    const services = () => new Set(collector.spans.map(({ service }) => service));
    await expect.poll(() => services().size, { timeout: LIMIT_MS }).toBe(2);
  });

  test('a tier reaches nothing that its work does not need', async () => {
    const reach = (pod: string, url: string) =>
      installed.cluster
        .pod(pod)
        .exec([
          'node',
          '-e',
          `fetch('${url}', { signal: AbortSignal.timeout(3_000) }).then(() => process.exit(9))`,
        ]);
    const refused = await Promise.all([
      reach('hoplog-ingest-0', 'http://clickhouse.example:8123/ping'),
      reach('hoplog-ingest-0', 'https://identity.example:9443/'),
      reach('hoplog-workers-0', 'https://identity.example:9443/'),
      reach('hoplog-workers-0', 'http://hoplog-api:3000/health/live'),
    ]);
    expect(refused.map(({ status, output }) => [status, /TimeoutError/.test(output)])).toEqual(
      refused.map(() => [1, true]),
    );
    const allowed = await reach('hoplog-workers-0', 'http://clickhouse.example:8123/ping');
    expect(allowed.status, allowed.output).toBe(9);
  });

  test('an upgrade runs its migrations under the policies of the release', async () => {
    const { resources } = installed.rendering;
    await installed.cluster.runJob(findResource(resources, 'Job', 'hoplog-migrate'));
  });

  test('helm test passes where every part works, and names a part that does not respond', {
    timeout: 4 * LIMIT_MS,
  }, async () => {
    const { cluster, rendering } = installed;
    const job = findResource(rendering.resources, 'Job', 'hoplog-test');
    // Each check of status may exceed its three seconds on a loaded machine.
    const run = () => cluster.runJob(job).catch((error: Error) => error.message);
    await expect.poll(run, { timeout: 3 * LIMIT_MS }).toMatch(/^(?!.* ended with )[\s\S]*ingest/);
    const other = structuredClone(job);
    const address = other.spec.template.spec.containers[0]?.env?.find(({ name }) => name === 'BASE_URL');
    if (address) address.value = 'http://hoplog-api:3001';
    await expect(cluster.runJob(other)).rejects.toThrow(/api/i);
  });

  test('secrets are files that only its own process reads, and only migrations know the owner', async () => {
    for (const pod of installed.cluster.pods()) {
      const listed = await pod.exec(['ls', '-1nL', '/etc/hoplog/secrets']);
      const files = listed.output
        .trim()
        .split('\n')
        .slice(-4)
        .map((line) => line.split(/\s+/));
      expect(files.map(([mode, , user, group, , , , , name]) => [mode, user, group, name])).toEqual(
        ['CLICKHOUSE_PASSWORD', 'CLICKHOUSE_URL', 'DATABASE_PASSWORD', 'DATABASE_URL'].map((name) => [
          '-r--r-----',
          '0',
          '1000',
          name,
        ]),
      );
      const environment = (await pod.exec(['env'])).output;
      for (const password of [installed.secret.DATABASE_PASSWORD, installed.secret.CLICKHOUSE_PASSWORD]) {
        expect(environment).not.toContain(password);
      }
      expect(environment).not.toContain('DATABASE_OWNER');
    }
  });

  test('a changed password reaches the pods by their files: none restarts, and clicks are stored', {
    tags: 'nightly',
  }, async () => {
    const { cluster, secret, role } = installed;
    await onPostgres(
      `ALTER ROLE ${role} PASSWORD 'changed'`,
      // Open connections would stay as they are.
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`,
    );
    cluster.setSecret('hoplog', { ...secret, DATABASE_PASSWORD: 'changed' });
    const make = () => makeLink(api(), key, 'After the change').catch((error: Error) => error);
    const link = await until('a link', make, (made): made is Link => !(made instanceof Error));
    const address = origin(cluster.service('hoplog-ingest').ipv4, 8080);
    const { pathname } = new URL(link.short_url);
    const headers = { 'user-agent': BROWSER };
    const visit = async () => (await fetch(address + pathname, { redirect: 'manual', headers })).status;
    await expect.poll(visit, { timeout: LIMIT_MS }).toBe(302);
    await untilClicks(api(), key, link, 1);
    await cluster.untilReady();
    for (const { name, state } of cluster.pods()) expect(state().restarts, name).toBe(0);
  });

  test('a pod that is deleted ends in order, and comes back with its stream', async () => {
    const { cluster } = installed;
    expect(await cluster.pod('hoplog-ingest-0').delete()).toBe(0);
    cluster.restart('hoplog-ingest-0');
    await cluster.untilReady();
    // Each check of status may exceed its three seconds on a loaded machine; it has no progress then.
    const streams = async () => {
      const { output } = await cluster.pod('hoplog-api-0').exec(['hoplog', 'status', '--json']);
      const { progress } = JSON.parse(output) as { progress: { streams: { name: string }[] } | null };
      return progress?.streams.map(({ name }) => name).toSorted();
    };
    await expect.poll(streams).toEqual(['hoplog-api-0', 'hoplog-ingest-0', 'hoplog-ingest-1']);
  });
});

const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';
