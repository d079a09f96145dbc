/** Input of a load generator, the same for all servers of a comparison. */
export type LoadPlan = {
  port: number;
  connections: number;
  /** Warm-up before the measurement. */
  warmUpSeconds: number;
  seconds: number;
  /** Requests per second at fixed times; null: each connection sends after its response. */
  rate: number | null;
  /** At a fixed rate: sleeps between sends of each millisecond. Otherwise it busy-waits for precision. */
  sharesCore?: boolean;
  /** Slugs of most requests. */
  hot: string[];
  /** Slugs of other requests. */
  cold: string[];
  /** Share of requests for cold slugs, 0 to 1. */
  coldShare: number;
  /** Header lines of a request, without the final empty line. */
  heads: string[];
  /** File for a line per redirect, `visitor milliseconds slug`, on the machine's monotonic clock. */
  visitorsFile?: string;
};

/** Result of a load generator. Latencies and lateness in milliseconds. */
export type LoadResult = {
  seconds: number;
  answered: number;
  /** Including the warm-up, for CPU per request. */
  total: number;
  /** Responses other than redirects, and requests without a response. */
  failed: number;
  perSecond: number;
  /** From the due time at a fixed rate, else from the send. */
  p50: number;
  p99: number;
  p999: number;
  max: number;
  /**
   * p99 of how late the generator sent a request, measured from its due time, or from when a connection was free if
   * that was later. Only measured at a fixed rate.
   */
  lateness: number;
  /**
   * Share of the time, 0 to 1, in which other processes used the generator's core for over a millisecond. 0 if it does
   * not busy-wait.
   */
  paused: number;
  /** CPU seconds of the generator. */
  cpu: number;
};

const REST = [
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Encoding: gzip, deflate, br',
];

/** Returns the header lines of a visitor; `address` is sent as by a proxy. */
export function headOf(visitor: {
  userAgent: string;
  referer: string;
  languages?: string;
  address?: string;
}): string {
  return [
    'Host: short.test',
    `User-Agent: ${visitor.userAgent}`,
    ...REST,
    `Accept-Language: ${visitor.languages ?? 'en-US,en;q=0.9'}`,
    ...(visitor.referer === '' ? [] : [`Referer: ${visitor.referer}`]),
    ...(visitor.address === undefined ? [] : [`X-Forwarded-For: ${visitor.address}`]),
  ].join('\r\n');
}
