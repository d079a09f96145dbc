import { readdirSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { directGet } from '../../core/tier/direct-get.ts';
import { freeBytes } from '../../core/tier/free-bytes.ts';
import type { Logger } from '../../core/tier/log.ts';

const HOUR_MS = 3_600_000;
const ANSWER_MS = 5_000;
const MIB = 2 ** 20;
/** Maximum size of a metrics response. */
const METRICS_BYTES = 4 * MIB;

export type HourlyOptions = {
  dataDir: string;
  /** URLs of the metrics of ingest and workers. */
  ingestMetrics: string;
  workerMetrics: string;
  log: Logger;
  /** For tests. */
  everyMs?: number;
};

/** Figures of an hour. Null: the process did not respond. */
type Figures = {
  redirects: number | null;
  lost: number | null;
  watermark_age_seconds: number | null;
  free_mib: number | null;
  memory_mib: number | null;
  machine_mib: number;
};

/**
 * Logs one line each hour: redirects and lost clicks since the previous line, the age of the watermark, free space of
 * DATA_DIR, and the memory of all processes of the service.
 *
 * @returns a function that ends it
 */
export function logHourly(options: HourlyOptions): () => void {
  const { log, everyMs = HOUR_MS } = options;
  const sinceLast = { redirects: counterChange(), lost: counterChange() };
  const report = async () => {
    const [ingest, workers, free] = await Promise.all([
      metricsOf(options.ingestMetrics),
      metricsOf(options.workerMetrics),
      freeBytes(options.dataDir).catch(() => null),
    ]);
    const memory = serviceBytes(process.pid);
    const figures: Figures = {
      redirects: sinceLast.redirects(sumOf(ingest, 'hoplog_ingest_redirects_total{outcome="redirected"')),
      lost: sinceLast.lost(sumOf(ingest, 'hoplog_ingest_lost_total{kind="click"')),
      watermark_age_seconds: rounded(sumOf(workers, 'hoplog_watermark_age_seconds')),
      free_mib: free === null ? null : Math.floor(free / MIB),
      memory_mib: memory === null ? null : Math.ceil(memory / MIB),
      machine_mib: Math.floor(totalmem() / MIB),
    };
    log.info(figures, describe(figures));
  };
  let isReporting = false;
  const run = async () => {
    // Two concurrent reports would read counters in any order.
    if (isReporting) return;
    isReporting = true;
    try {
      await report();
    } catch (error) {
      log.warn({ err: error }, 'failed to gather the figures of the hour');
    }
    isReporting = false;
  };
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function describe(figures: Figures): string {
  const { redirects, lost, watermark_age_seconds: age, free_mib: free, memory_mib: memory } = figures;
  const part = (value: number | null, text: string) => `${value ?? 'unknown'} ${text}`;
  return [
    `this hour: ${part(redirects, 'redirects')}, ${part(lost, 'clicks lost')}`,
    `clicks visible up to ${part(age, 's ago')}`,
    part(free, 'MiB free in DATA_DIR'),
    part(memory, 'MiB of memory'),
  ].join(', ');
}

/** Returns a function that computes by how much a counter grew; a restarted counter counts from 0. */
function counterChange(): (now: number | null) => number | null {
  let before = 0;
  return (now) => {
    if (now === null) return null;
    const change = now < before ? now : now - before;
    before = now;
    return change;
  };
}

async function metricsOf(url: string): Promise<string | null> {
  const response = await directGet(url, ANSWER_MS, METRICS_BYTES).catch(() => null);
  return response?.status === 200 ? response.body : null;
}

/** Adds up the samples whose lines start with this; null when there are none. */
function sumOf(text: string | null, start: string): number | null {
  const lines = (text ?? '').split('\n').filter((line) => line.startsWith(start));
  if (lines.length === 0) return null;
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10;
}

/** Returns the proportional memory of a process and its descendants, in bytes; null outside of Linux. */
function serviceBytes(root: number): number | null {
  try {
    const children = new Map<number, number[]>();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const parent = Number(/\) \S (\d+)/.exec(readOrEmpty(`/proc/${name}/stat`))?.[1] ?? 0);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    }
    let bytes = 0;
    for (const left = [root]; left.length > 0; ) {
      const pid = left.pop() ?? 0;
      left.push(...(children.get(pid) ?? []));
      bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
    }
    return bytes;
  } catch {
    return null;
  }
}

/** A process may end meanwhile, or belong to a user whose memory this user may not read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
