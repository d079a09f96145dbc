import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleOf, IMPORTS_FILE, ROOT_DIR } from '../cli/programs/programs.ts';
import { silentLogger } from '../core/tier/log.ts';
import { NO_TRACING, openTracing, type Tracing } from '../core/tier/tracing.ts';
import { startOtlpReceiver } from './support/otlp-receiver.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { createWebhookBench, type WebhookBench } from './support/webhook-bench.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

let collector: Awaited<ReturnType<typeof startOtlpReceiver>>;
let tracing: Tracing;
let bench: WebhookBench;
let receiver: Receiver;

beforeAll(async () => {
  collector = await startOtlpReceiver();
  tracing = await openTracing(collector.endpoint, 'test', silentLogger());
  bench = await createWebhookBench({ tracing });
  receiver = await startReceiver();
});

afterAll(async () => {
  await bench?.close();
  await receiver?.close();
  await tracing?.close();
  await collector?.close();
});

/** Returns the spans of a name, once the collector has as many. */
async function spansOf(name: string, count: number) {
  const found = () => collector.spans.filter((span) => span.name === name);
  await expect.poll(() => found().length).toBe(count);
  return found();
}

test('a request of the API is a span of the caller’s trace, and a failed one is marked', async () => {
  const shop = await bench.api.addWorkspace();
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
  await shop.get('/me', { headers });
  await shop.get('/me', { headers: { traceparent: 'no traceparent' } });
  const [first, second] = await spansOf('GET /api/v1/me', 2);
  expect(first).toMatchObject({
    service: 'hoplog-test',
    traceId: TRACE,
    parentSpanId: CALLER,
    attributes: {
      'http.request.method': 'GET',
      'http.route': '/api/v1/me',
      'http.response.status_code': 200,
      'hoplog.request_id': expect.any(String),
    },
  });
  expect(second?.traceId).not.toBe(TRACE);
  expect(second?.parentSpanId || undefined).toBeUndefined();
});

test('health checks and requests of an unknown path do not make a series of names', async () => {
  await bench.api.app.inject('/health/live');
  await bench.api.app.inject('/api/v1/unknown/1234');
  await spansOf('GET unknown', 1);
  expect(collector.spans.filter(({ name }) => /health|1234/.test(name))).toEqual([]);
});

test('a batch that a lane stores and each delivery are spans, and the receiver gets the trace', async () => {
  const shop = await bench.api.addWorkspace();
  const hook = await bench.hook(shop, receiver.url, ['click.created']);
  bench.work();
  bench.clicks(shop, 3);
  await bench.untilDelivery(shop, hook, (one) => one.status === 'delivered');
  const received = await receiver.until(3);
  const deliveries = await spansOf('deliver webhook', 3);
  expect(deliveries[0]?.attributes).toMatchObject({
    'hoplog.webhook_id': hook.id,
    'hoplog.outcome': 'delivered',
    'http.response.status_code': 200,
  });
  const continued = received.map(({ headers }) => headers.traceparent).sort();
  expect(continued).toEqual(deliveries.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort());
  // The three clicks may be stored in one batch or in several.
  const rows = () =>
    collector.spans
      .filter(({ name }) => name === 'store batch')
      .reduce((sum, { attributes }) => sum + Number(attributes['hoplog.rows']), 0);
  await expect.poll(rows).toBe(3);
});

test('a delivery that fails is a failed span', async () => {
  receiver.answerWith(410, {}, 'gone');
  const shop = await bench.api.addWorkspace();
  const hook = await bench.hook(shop, receiver.url, ['credit.earned']);
  await bench.credit(shop);
  await bench.untilDelivery(shop, hook, (one) => one.status === 'failed');
  const failed = () =>
    collector.spans.find(({ attributes }) => attributes['hoplog.webhook_id'] === hook.id)?.status;
  await expect.poll(failed).toMatchObject({ code: 2, message: expect.stringContaining('410') });
});

test('without a collector nothing is traced, and programs do not contain the SDK', async () => {
  expect(await openTracing('', 'test', silentLogger())).toBe(NO_TRACING);
  const imports = JSON.parse(readFileSync(IMPORTS_FILE, 'utf8')) as Record<string, string[]>;
  for (const program of ['api', 'workers', 'ingest'] as const) {
    expect(imports[program]?.filter((name) => name.startsWith('@opentelemetry'))).toEqual([]);
    expect(readFileSync(bundleOf(program), 'utf8')).not.toContain('BatchSpanProcessor');
  }
});

test('the bundled tracing exports too, and a collector that is down does not delay the end', async () => {
  const code = (endpoint: string) => `
    const { openOtlp } = await import(${JSON.stringify(bundleOf('otlp'))});
    const tracing = openOtlp(${JSON.stringify(endpoint)}, 'bundle', { warn() {} });
    tracing.start('bundled', { kind: 'client' }).end();
    await tracing.close();`;
  const run = (endpoint: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', code(endpoint)], {
      cwd: join(ROOT_DIR, 'dist'),
    });
  await run(collector.endpoint);
  expect(await spansOf('bundled', 1)).toMatchObject([{ service: 'hoplog-bundle' }]);
  // A port that nothing listens on.
  await run('http://127.0.0.1:9');
});
