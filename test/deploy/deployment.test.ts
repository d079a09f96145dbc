import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { accountFor } from '../faults/accounting.ts';
import { clickLinks } from '../support/clicker.ts';
import { type Link, makeLink } from '../support/first-click.ts';
import { EACH_SECOND } from '../support/hoplog.ts';
import { NO_KAFKA } from '../support/kafka.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { askAllTheWhile } from './asker.ts';
import { readYaml } from './compose-file.ts';
import { addExposed, declaredLabels, type Exposed } from './exposed-metrics.ts';
import { type LocalNginx, NO_NGINX, startNginx, writeNginxConfig } from './nginx.ts';
import { type Matcher, monitoringQueries, parseQuery } from './promql.ts';
import { createTestDeployment, type TestDeployment } from './test-deployment.ts';

const INGEST = ['ingest-0', 'ingest-1', 'ingest-2'];
const SERVICES = [...INGEST, 'workers-0', 'workers-1', 'api-0', 'api-1'];
/** Services that are restarted one after the other, one of each kind. The nightly run restarts them all. */
const RESTARTED = NIGHTLY ? SERVICES : ['ingest-0', 'workers-0', 'api-0'];
const CLICKS_EACH = 40;
/** Silence that a loaded machine may need. */
const PATIENCE_MS = 60_000;
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
/** An address of Google's resolver, in the United States. */
const VISITOR = '8.8.8.8';

describe('the processes of docker-compose.yml', () => {
  let deployment: TestDeployment;
  let nginx: LocalNginx | undefined;

  beforeAll(async () => {
    if (NO_KAFKA !== false) return;
    deployment = await createTestDeployment();
    await deployment.start(SERVICES);
  }, 240_000);

  beforeEach((context) => {
    context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  });

  afterAll(async () => {
    await nginx?.stop();
    await deployment?.close();
  });

  test('migrating again changes nothing and prints no key', async () => {
    expect(deployment.key).toMatch(/^lk_live_/);
    const printed = await deployment.run('migrate');
    expect(printed).toMatch(/postgres +up to date/);
    expect(printed).toMatch(/clickhouse +up to date/);
    expect(printed).not.toContain('secret key');
  });

  test('every click, through any ingest process, is stored once, with the address that nginx passes on', async () => {
    const service = {
      api_url: `http://${deployment.host('api-0')}:3000/api/v1`,
      short_url: `http://${deployment.host('ingest-0')}:8080`,
    };
    const link = await makeLink(service, deployment.key, 'compose');
    const clicked = await clickLinks({
      urls: INGEST.map((one) => `http://${deployment.host(one)}:8080/${link.slug}`),
      count: CLICKS_EACH * INGEST.length,
      connections: 6,
      timeoutMs: PATIENCE_MS,
      headers: () => ({ 'user-agent': CHROME, 'x-forwarded-for': VISITOR }),
    });
    expect(clicked.refused).toEqual(new Map());
    expect(clicked.unanswered).toEqual([]);
    expect(await accountFor(service, deployment.key, clicked.answered)).toBe(clicked.answered.length);

    const response = await fetch(`${service.api_url}/clicks?limit=500`, {
      headers: { authorization: `Bearer ${deployment.key}` },
    });
    const { clicks } = (await response.json()) as { clicks: { country: string | null }[] };
    expect(new Set(clicks.map(({ country }) => country))).toEqual(new Set(['US']));
  });

  /**
   * Scrapes every process, as Prometheus does. Returns the events that each ingest process has shipped to Kafka too.
   */
  async function scrape(): Promise<{ exposed: Exposed; shipped: Record<string, number> }> {
    const exposed: Exposed = new Map();
    const shipped: Record<string, number> = {};
    const { scrape_configs } = readYaml('deploy/prometheus/prometheus.yml') as {
      scrape_configs: { static_configs: { targets: string[] }[] }[];
    };
    const targets = scrape_configs.flatMap(({ static_configs }) =>
      static_configs.flatMap((one) => one.targets),
    );
    for (const target of targets) {
      const [service = '', port] = target.split(':');
      const response = await fetch(`http://${deployment.host(service)}:${port}/metrics`);
      expect(response.status, target).toBe(200);
      const text = await response.text();
      addExposed(exposed, text, target);
      if (!INGEST.includes(service)) continue;
      shipped[service] = Number(/^hoplog_shipper_events_total\S* (\d+)$/m.exec(text)?.[1]);
    }
    return { exposed, shipped };
  }

  test('every process responds where Prometheus scrapes it, and its clicks went through Kafka', async () => {
    const haveShipped = async () => {
      const { shipped } = await scrape();
      return INGEST.every((one) => (shipped[one] ?? 0) >= CLICKS_EACH);
    };
    await expect.poll(haveShipped).toBe(true);
  });

  test('every query of alerts and dashboards uses metrics, labels and values that these processes expose', async () => {
    expect((await scrape()).exposed.size).toBeGreaterThan(50);
    // Some series begin with the first run of a job.
    await expect.poll(async () => problemsOfQueries((await scrape()).exposed), EACH_SECOND).toEqual([]);
  });

  function problemsOfQueries(exposed: Exposed): string[] {
    const declared = declaredLabels();
    const labelsOf = (metric: string) => {
      const series = exposed.get(metric) ?? [];
      return new Set([...series.flatMap((labels) => Object.keys(labels)), ...(declared.get(metric) ?? [])]);
    };
    const problems: string[] = [];
    for (const [where, expression] of monitoringQueries()) {
      const { selectors, groupings } = parseQuery(expression);
      if (selectors.length === 0) problems.push(`${where}: asks for nothing`);
      for (const { metric, matchers } of selectors) {
        const series = exposed.get(metric);
        if (!series) problems.push(`${where}: no process exposes ${metric}`);
        for (const { label } of matchers) {
          if (!labelsOf(metric).has(label)) problems.push(`${where}: ${metric} has no label ${label}`);
        }
        const matching = series?.filter((labels) => matchers.every((matcher) => matches(labels, matcher)));
        if (series?.length && !matching?.length && !expression.includes('5..')) {
          problems.push(`${where}: no series of ${metric} has ${JSON.stringify(matchers)}`);
        }
      }
      for (const { labels, metrics } of groupings) {
        for (const metric of metrics) {
          for (const label of labels.filter((one) => !labelsOf(metric).has(one))) {
            problems.push(`${where}: ${metric} can't be grouped by ${label}`);
          }
        }
      }
    }
    return problems;
  }

  /** Nginx in front of the deployment, and the addresses that it opens. */
  async function behindNginx() {
    nginx ??= await startNginx(writeNginxConfig(deployment.directory, deployment.host), deployment.host);
    const front = `http://${deployment.host('nginx')}`;
    return { front, service: { api_url: `${front}:3000/api/v1`, short_url: `${front}:8080` } };
  }

  test('nginx passes whatever the API and redirects accept, however long', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    const { service } = await behindNginx();
    const headers = { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' };
    const ids = Array.from({ length: 500 }, () => uuidv7()).join(',');
    const asked = await fetch(`${service.api_url}/links?ids=${ids}`, { headers });
    expect([asked.status, await asked.json()]).toMatchObject([200, { links: [] }]);

    const destination = `https://example.com/${'ü'.repeat(2_000)}`;
    const body = JSON.stringify({ name: 'Long', destination_url: destination, channel: 'reddit' });
    const made = await fetch(`${service.api_url}/links`, { method: 'POST', headers, body });
    expect(made.status).toBe(201);
    const [link] = ((await made.json()) as { links: Link[] }).links;
    const visit = () => fetch(`${service.short_url}/${link?.slug}`, { redirect: 'manual' });
    await expect.poll(async () => (await visit()).status).not.toBe(404);
    const sent = await visit();
    expect([sent.status, sent.headers.get('location')?.startsWith(encodeURI(destination))]).toEqual([
      302,
      true,
    ]);

    // As large as a body may be: the API itself rejects it, in JSON.
    const spaces = ' '.repeat(16 * 1_048_576 - 2);
    const refused = await fetch(`${service.api_url}/links/bulk`, {
      method: 'POST',
      headers,
      body: `{${spaces}}`,
    });
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { error: { code: 'payload_too_large' } },
    ]);
  });

  test('one ingest process that restarts serves at once, though nginx has seen all of them fail', async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    const { front, service } = await behindNginx();
    const link = await makeLink(service, deployment.key, 'back');
    const visit = () => fetch(`${front}:8080/${link.slug}`, { redirect: 'manual' });
    const report = () => fetch(`${front}:8080/collect`, { method: 'POST', body: '{}' });
    expect((await visit()).status).toBe(302);

    await deployment.stop(INGEST);
    expect([(await visit()).status, (await report()).status]).toEqual([502, 502]);
    const [first = ''] = INGEST;
    deployment.begin([first]);
    // nginx sees them fail until the moment at which one is back.
    const visitAndCheck = async () => {
      await visit();
      return deployment.isHealthy(first);
    };
    await expect.poll(visitAndCheck).toBe(true);
    for (let n = 0; n < 20; n++)
      expect([(await visit()).status, (await report()).status]).toEqual([302, 401]);
    await deployment.start(INGEST.slice(1));
  });

  test('restarting processes of every kind, one after the other, fails no request, and every click is counted once', {
    timeout: 600_000,
  }, async (context) => {
    context.skip(NO_NGINX !== false, String(NO_NGINX));
    const { front, service } = await behindNginx();
    const link = await makeLink(service, deployment.key, 'rolling');

    const stop = new AbortController();
    const urls = [`${front}:8080/${link.slug}`];
    const load = { urls, connections: 4, seconds: 570, timeoutMs: PATIENCE_MS, signal: stop.signal };
    const clicking = [
      clickLinks({ ...load, paceMs: 30 }),
      clickLinks({ ...load, paceMs: 30, newConnections: true }),
    ];
    const headers = { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' };
    const asking = Promise.all([
      askAllTheWhile({ method: 'GET', url: `${service.api_url}/links`, headers }, stop.signal),
      // A POST must not run twice, so nginx never repeats one: each must succeed at once. The expected response is an
      // error.
      askAllTheWhile({ method: 'POST', url: `${service.api_url}/links`, headers, body: '{}' }, stop.signal),
      askAllTheWhile({ method: 'POST', url: `${front}:8080/collect`, body: '{}' }, stop.signal),
    ]);
    await delay(500);
    for (const one of RESTARTED) {
      await deployment.stop([one]);
      await deployment.start([one]);
    }
    await delay(500);
    stop.abort();

    const clicked = await Promise.all(clicking);
    for (const { refused, unanswered, answered } of clicked) {
      expect([refused, unanswered], nginx?.log()).toEqual([new Map(), []]);
      expect(answered.length).toBeGreaterThan(100);
    }
    const responses = (await asking).map((seen) => [...seen.keys()]);
    expect(responses, nginx?.log()).toEqual([['200'], ['400'], ['401']]);
    await accountFor(
      service,
      deployment.key,
      clicked.flatMap(({ answered }) => answered),
    );
  });
});

test('a query that is not PromQL, or selects no metric, is detected', () => {
  expect(() => parseQuery('sum by (rate(x[1m])')).toThrow(SyntaxError);
  expect(parseQuery('sum by (a) (rate(x{b=~"c|d"}[$__rate_interval]))')).toEqual({
    selectors: [{ metric: 'x', matchers: [{ label: 'b', operator: '=~', value: 'c|d' }] }],
    groupings: [{ labels: ['a'], metrics: ['x'] }],
  });
});

function matches(labels: Record<string, string>, { label, operator, value }: Matcher): boolean {
  const found = labels[label] ?? '';
  const equal = operator.includes('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value;
  return operator.startsWith('!') ? !equal : equal;
}
