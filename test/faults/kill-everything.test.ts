import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type Service, startService } from '../support/service.ts';
import { accountFor } from './accounting.ts';
import { killEverything } from './processes.ts';

const ROUNDS = NIGHTLY ? 6 : 2;

let directory: string;
let service: Service;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-kill-'));
});

afterEach(async () => {
  if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

test(`${ROUNDS} rounds of kill -9 of the whole service under load lose no redirected click and duplicate none`, {
  timeout: 600_000,
}, async () => {
  const dataDir = join(directory, 'data');
  service = await startService({ dataDir });
  const key = service.demo?.secret_key ?? '';
  const link = await makeLink(service, key, 'kill');
  const answered: string[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const stop = new AbortController();
    const urls = [`${service.short_url}/${link.slug}`];
    answered.push(...(await firstVisits(urls)));
    const load = clickLinks({ urls, connections: 8, paceMs: 2, seconds: 20, signal: stop.signal });
    // Each round hits another moment of the pipeline: batches written, read, inserted, advanced.
    await delay(300 + ((round * 137) % 500));
    await killEverything(service);
    stop.abort();
    const clicked = await load;
    expect(clicked.refused, 'every answer is a redirect').toEqual(new Map());
    answered.push(...clicked.answered);
    service = await startService({ dataDir });
  }
  // On a loaded machine, only the first round may have redirects.
  expect(answered.length).toBeGreaterThan(10 * ROUNDS);
  const stored = await accountFor(service, key, answered);
  console.log(`${answered.length} redirected clicks over ${ROUNDS} kills, ${stored} stored`);
});
