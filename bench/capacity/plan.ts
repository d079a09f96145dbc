/** What the plan is made for. */
export type Wanted = {
  clicksPerDay: number;
  /** How many times the day's mean rate the busiest minute has. */
  peak: number;
  /** Share of a core that may be used at the peak; the rest is for catching up and for the loss of a process. */
  use: number;
  replicas: number;
  kafkaDays: number;
  storeCores: number;
  storeDiskBytes: number;
};

/** Medians that the benchmarks have measured; see `figures` at the end of their results. */
export type Figures = Record<(typeof NEEDED)[number], number>;

export const NEEDED = [
  'redirects_per_second',
  'shipper_cpu_per_million',
  'kafka_bytes_per_click',
  'worker_clicks_per_cpu_second',
  'store_cpu_per_million',
  'clickhouse_bytes_per_click_merged',
] as const;

export type Plan = {
  meanPerSecond: number;
  peakPerSecond: number;
  /** Clicks a second that one of each carries within `use`. */
  redirectCore: number;
  workerCore: number;
  storeNode: number;
  redirectCores: number;
  shipperCores: number;
  workerCores: number;
  /** Of one replica, for inserts with their merges; questions come on top. */
  storeInsertCores: number;
  kafkaBytesPerSecond: number;
  /** Of all replicas. */
  kafkaBytes: number;
  /** Of one replica. */
  storeBytesPerDay: number;
  storeDaysOnDisk: number;
};

const DAY_SECONDS = 86_400;
/** Merges and parts in flight need room, and a full disk stops inserts. */
const DISK_USE = 0.7;
/** Of a node's cores for inserts; the others answer questions. */
const INSERT_SHARE = 0.5;

/** Computes what a load takes from what single parts have done. Whole cores where a process needs one. */
export function planOf(figures: Figures, wanted: Wanted): Plan {
  const { clicksPerDay, peak, use, replicas, kafkaDays, storeCores, storeDiskBytes } = wanted;
  const meanPerSecond = clicksPerDay / DAY_SECONDS;
  const peakPerSecond = meanPerSecond * peak;
  const redirectCore = figures.redirects_per_second * use;
  const workerCore = figures.worker_clicks_per_cpu_second * use;
  const storeBytesPerDay = clicksPerDay * figures.clickhouse_bytes_per_click_merged;
  return {
    meanPerSecond,
    peakPerSecond,
    redirectCore,
    workerCore,
    storeNode: (storeCores * INSERT_SHARE * use * 1e6) / figures.store_cpu_per_million,
    redirectCores: Math.ceil(peakPerSecond / redirectCore),
    shipperCores: (peakPerSecond * figures.shipper_cpu_per_million) / 1e6,
    workerCores: Math.ceil(peakPerSecond / workerCore),
    storeInsertCores: (peakPerSecond * figures.store_cpu_per_million) / 1e6,
    kafkaBytesPerSecond: peakPerSecond * figures.kafka_bytes_per_click,
    kafkaBytes: clicksPerDay * kafkaDays * replicas * figures.kafka_bytes_per_click,
    storeBytesPerDay,
    storeDaysOnDisk: (storeDiskBytes * DISK_USE) / storeBytesPerDay,
  };
}

/**
 * Reads the figures out of the text of results.
 *
 * @throws Error naming those that no result has
 */
export function figuresIn(results: readonly string[]): Figures {
  const found = new Map<string, number>();
  for (const text of results) {
    const lines = text.split('\n');
    const at = lines.indexOf('figures');
    if (at < 0) continue;
    for (const line of lines.slice(at + 1)) {
      const [name, value] = line.split(' ');
      if (name) found.set(name, Number(value));
    }
  }
  const missing = NEEDED.filter((name) => !Number.isFinite(found.get(name)));
  if (missing.length > 0) throw new Error(`not measured yet: ${missing.join(', ')}`);
  return Object.fromEntries(NEEDED.map((name) => [name, found.get(name)])) as Figures;
}
