import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { accountFor } from '../faults/accounting.ts';
import { clickLinks } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { NO_KAFKA } from '../support/kafka.ts';
import { askAllTheWhile } from './asker.ts';
import { type LocalNginx, NO_NGINX, startNginx, writeNginxConfig } from './nginx.ts';
import { createTestDeployment, type TestDeployment } from './test-deployment.ts';

const SERVICES = ['ingest-0', 'ingest-1', 'ingest-2', 'workers-0', 'workers-1', 'api-0', 'api-1'];
const MISSING = NO_KAFKA || NO_NGINX;

let deployment: TestDeployment;
let nginx: LocalNginx;

beforeAll(async () => {
  if (MISSING !== false) return;
  deployment = await createTestDeployment();
  await deployment.start(SERVICES);
}, 240_000);

beforeEach((context) => {
  context.skip(MISSING !== false, String(MISSING));
});

afterAll(async () => {
  await nginx?.stop();
  await deployment?.close();
});

test('every process is restarted, one after the other: nothing that is asked fails, every click is counted once', {
  timeout: 300_000,
}, async () => {
  nginx = await startNginx(writeNginxConfig(deployment.directory, deployment.host), deployment.host);
  const front = `http://${deployment.host('nginx')}`;
  const service = { api_url: `${front}:3000/api/v1`, short_url: `${front}:8080` };
  const link = await makeLink(service, deployment.key, 'rolling');

  const stop = new AbortController();
  const load = { urls: [`${front}:8080/${link.slug}`], connections: 4, seconds: 280, signal: stop.signal };
  const clicking = [
    clickLinks({ ...load, paceMs: 10 }),
    clickLinks({ ...load, paceMs: 10, newConnections: true }),
  ];
  const headers = { authorization: `Bearer ${deployment.key}`, 'content-type': 'application/json' };
  const asking = Promise.all([
    askAllTheWhile({ method: 'GET', url: `${service.api_url}/links`, headers }, stop.signal),
    // Nothing may be done twice, so nginx sends no POST again: none may need it. These are answered with an error.
    askAllTheWhile({ method: 'POST', url: `${service.api_url}/links`, headers, body: '{}' }, stop.signal),
    askAllTheWhile({ method: 'POST', url: `${front}:8080/collect`, body: '{}' }, stop.signal),
  ]);
  await delay(500);
  for (const one of SERVICES) {
    await deployment.stop([one]);
    await deployment.start([one]);
  }
  await delay(500);
  stop.abort();

  const clicked = await Promise.all(clicking);
  for (const { refused, unanswered, answered } of clicked) {
    expect([refused, unanswered], nginx.log()).toEqual([new Map(), 0]);
    expect(answered.length).toBeGreaterThan(100);
  }
  const answers = (await asking).map((seen) => [...seen.keys()]);
  expect(answers, nginx.log()).toEqual([['200'], ['400'], ['401']]);
  await accountFor(
    service,
    deployment.key,
    clicked.flatMap(({ answered }) => answered),
  );
});
