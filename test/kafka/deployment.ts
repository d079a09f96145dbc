import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clicked, type ClickerOptions, clickLinks, firstVisits } from '../support/clicker.ts';
import type { IngestDetails } from '../support/ingest.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';
import type { Ready } from '../support/service.ts';
import { untilSynced } from '../support/synced-links.ts';
import { until } from '../support/until.ts';

/** Seconds after which a load or a poller of a test ends in any case. */
const LOAD_SECONDS = 400;

/** Returns the process id of a tier, as the supervisor records it. */
export function tierProcess(dataDir: string, tier: 'ingest' | 'workers' | 'api'): number {
  const record = JSON.parse(readFileSync(join(dataDir, 'run', `${tier}.child.json`), 'utf8')) as {
    pid: number;
  };
  return record.pid;
}

/** Returns the addresses of a running service's databases. */
export function storesOf(dataDir: string): {
  databaseUrl: string;
  databaseOwnerUrl: string;
  clickhouseUrl: string;
} {
  return JSON.parse(readFileSync(join(dataDir, 'run', 'supervisor.json'), 'utf8'));
}

/** Returns the address of ingest's readiness, on its metrics port. */
export function ingestHealth(dataDir: string): string {
  const record = readFileSync(join(dataDir, 'run', 'supervisor.json'), 'utf8');
  return (JSON.parse(record) as { health: { ingest: string } }).health.ingest;
}

/**
 * Waits until the memory and the file of a service's ingest have all links that PostgreSQL has, so that they redirect
 * without it.
 */
export function untilLinksSynced(dataDir: string): Promise<void> {
  return untilSynced({
    async details() {
      const response = await fetch(ingestHealth(dataDir));
      return { ready: response.ok, body: (await response.json()) as IngestDetails['body'] };
    },
  });
}

export type WorkersProcess = { pid: number; kill(): Promise<void>; stop(): Promise<void> };

/** Starts one more workers process beside those of a service, and waits until it is ready. */
export async function startMoreWorkers(dataDir: string, env: NodeJS.ProcessEnv): Promise<WorkersProcess> {
  const { databaseUrl, clickhouseUrl } = storesOf(dataDir);
  const child = spawn(process.execPath, programArguments('workers'), {
    env: {
      ...PROGRAM_ENV,
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      METRICS_PORT: '0',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const end = (signal: NodeJS.Signals) => async () => {
    if (!running(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return { pid: child.pid ?? 0, kill: end('SIGKILL'), stop: end('SIGTERM') };
}

function running(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export type Load = { connections?: number; paceMs?: number; headers?: ClickerOptions['headers'] };

/**
 * Clicks these addresses in turn from before `work` begins until after it ends. Every process redirects before that, so
 * that none needs PostgreSQL for the link.
 */
export async function underLoad(
  urls: string[],
  work: () => Promise<unknown>,
  load: Load = {},
): Promise<Clicked> {
  const first = await firstVisits(urls);
  const stop = new AbortController();
  const clicking = clickLinks({
    urls,
    connections: 8,
    paceMs: 5,
    seconds: LOAD_SECONDS,
    signal: stop.signal,
    ...load,
  });
  try {
    await delay(500);
    await work();
    await delay(500);
  } finally {
    stop.abort();
  }
  const clicked = await clicking;
  return { ...clicked, answered: [...first, ...clicked.answered] };
}

/**
 * Polls `GET /clicks` as the specification tells an integrator to: each poll starts at the watermark of the previous
 * poll. A poll that fails because something is down is retried.
 *
 * @param from start of the first poll, milliseconds since the epoch
 * @returns visitor ids of all returned clicks, each once
 */
export async function pollClicks(
  service: Ready,
  key: string,
  link: string,
  isComplete: (seen: Set<string>) => boolean,
  from = Date.now(),
): Promise<Set<string>> {
  const seen = new Set<string>();
  let since = new Date(from).toISOString();
  const poll = async () => {
    const page = await pollOnce(service, key, link, since, seen).catch(() => null);
    if (page) since = page;
    return { since, seen: seen.size };
  };
  await until('every click in the polls', poll, () => isComplete(seen), {
    timeoutMs: LOAD_SECONDS * 1_000,
    intervalMs: 300,
  });
  return seen;
}

type Page = { clicks: { visitor_id: string }[]; next_cursor: string | null; watermark: string };

/** Walks the pages after `since`. @returns the first page's watermark: where the next poll starts */
async function pollOnce(
  service: Ready,
  key: string,
  link: string,
  since: string,
  seen: Set<string>,
): Promise<string> {
  let watermark = since;
  let before: string | null = null;
  const found: string[] = [];
  do {
    const cursor: string = before === null ? '' : `&before=${encodeURIComponent(before)}`;
    const query = `limit=500&bots=include&link_id=${link}&since=${encodeURIComponent(since)}${cursor}`;
    const response = await fetch(`${service.api_url}/clicks?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!response.ok) throw new Error(`GET /clicks returned ${response.status}`);
    const page = (await response.json()) as Page;
    if (before === null) watermark = page.watermark;
    found.push(...page.clicks.map((click) => click.visitor_id));
    before = page.next_cursor;
  } while (before !== null);
  for (const visitor of found) seen.add(visitor);
  return watermark;
}
