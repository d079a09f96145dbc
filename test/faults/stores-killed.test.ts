import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { untilLinksSynced } from '../kafka/deployment.ts';
import { clickLinks, firstVisits } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { accountFor } from './accounting.ts';
import { embeddedClickHouse, postmaster } from './processes.ts';

const KILLS = NIGHTLY ? 3 : 1;
/** Fewer redirects than a loaded machine has while it is killed so often. */
const LEAST = NIGHTLY ? 100 : 30;

let directory: string;
let dataDir: string;
let service: Service;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-stores-'));
  dataDir = join(directory, 'data');
  service = await startService({ dataDir });
});

afterEach(async () => {
  if (service.process.exitCode === null) await service.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns the process id of a store, or null while none runs. */
function runningPid(pid: () => number): number | null {
  try {
    return pid();
  } catch {
    return null;
  }
}

test.each([
  ['ClickHouse', () => embeddedClickHouse(service)],
  ['PostgreSQL', () => postmaster(dataDir)],
])(
  `%s killed under load, times ${KILLS}: known links continue to redirect and every click is counted once`,
  async (_, pid) => {
    const key = service.demo?.secret_key ?? '';
    const link = await makeLink(service, key, 'store');
    const urls = [`${service.short_url}/${link.slug}`];
    const first = await firstVisits(urls);
    await untilLinksSynced(dataDir);
    const stop = new AbortController();
    const load = clickLinks({
      urls,
      connections: 8,
      paceMs: 20,
      seconds: 60,
      signal: stop.signal,
    });
    for (let round = 0; round < KILLS; round++) {
      await delay(700);
      const killed = pid();
      process.kill(killed, 'SIGKILL');
      await until(
        'another process in its place',
        () => runningPid(pid),
        (now) => now !== null && now !== killed,
      );
    }
    stop.abort();
    const clicked = await load;
    expect(clicked.refused).toEqual(new Map());
    expect(clicked.unanswered).toEqual([]);
    expect(clicked.answered.length).toBeGreaterThan(LEAST);
    await accountFor(service, key, [...first, ...clicked.answered]);
  },
);
