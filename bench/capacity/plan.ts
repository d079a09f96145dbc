/** Input of the plan. */
export type Wanted = {
  clicksPerDay: number;
  /** Ratio of the busiest minute to the daily mean rate. */
  peak: number;
  /** Usable share of a core at the peak; the rest is reserved for recovery. */
  use: number;
  replicas: number;
  kafkaDays: number;
  storeCores: number;
  storeDiskBytes: number;
};

/** Measured medians, from `figures` in the results. */
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
  /** Clicks per second that one process of each kind handles within `use`. */
  redirectCore: number;
  workerCore: number;
  storeNode: number;
  redirectCores: number;
  shipperCores: number;
  workerCores: number;
  /** Of one replica, for inserts and merges, without queries. */
  storeInsertCores: number;
  kafkaBytesPerSecond: number;
  /** Of all replicas. */
  kafkaBytes: number;
  /** Of one replica. */
  storeBytesPerDay: number;
  storeDaysOnDisk: number;
};

const DAY_SECONDS = 86_400;
/** Merges need free space, and a full disk stops inserts. */
const DISK_USE = 0.7;
/** Share of the cores of a node for inserts; the rest serves queries. */
const INSERT_SHARE = 0.5;

/** Computes the resources for a load from single-process measurements, in whole cores per process. */
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
 * Reads the figures from the text of results.
 *
 * @throws Error naming the missing figures
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
