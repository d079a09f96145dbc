/** What a load generator sends; the same for every server that is measured beside another. */
export type LoadPlan = {
  port: number;
  connections: number;
  /** Driven for so long before anything is noted: caches, compilers. */
  warmUpSeconds: number;
  seconds: number;
  /** Requests a second at fixed times, whatever the server does; null: each connection sends as soon as it was answered. */
  rate: number | null;
  /** At a fixed rate: sends once a millisecond and sleeps in between. Otherwise it keeps its core busy to be exact. */
  sharesCore?: boolean;
  /** Slugs that nearly every visitor asks for. */
  hot: string[];
  /** Slugs of the others. */
  cold: string[];
  /** Share of visitors who ask for a cold slug, 0 to 1. */
  coldShare: number;
  /** Everything of a request behind its first line, without the empty line at its end. */
  heads: string[];
  /** File for a line per redirect, `visitor milliseconds slug`, on the machine's monotonic clock; none when left out. */
  visitorsFile?: string;
};

/** What came of it. Latencies and lateness in milliseconds. */
export type LoadResult = {
  seconds: number;
  answered: number;
  /** With those of the warm-up, for whoever counts the server's CPU. */
  total: number;
  /** Answers that were no redirect, and requests without an answer. */
  failed: number;
  perSecond: number;
  /** At a fixed rate from the moment at which the request was due, else from the moment at which it was sent. */
  p50: number;
  p99: number;
  p999: number;
  max: number;
  /**
   * How late the generator itself sent at a fixed rate, p99: what it may have added. Where every connection was waiting for
   * an answer when a request was due, from when one of them was free.
   */
  lateness: number;
  /**
   * Share of the time, 0 to 1, in which others had the generator's core for more than a millisecond: its requests were late
   * then, whoever answers. 0 where it does not keep a core busy.
   */
  paused: number;
  /** CPU seconds of the generator. */
  cpu: number;
};

const REST = [
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language: en-US,en;q=0.9',
  'Accept-Encoding: gzip, deflate, br',
];

/** The header lines of a visitor; `address` is sent as a proxy would say it. */
export function headOf(visitor: { userAgent: string; referer: string; address?: string }): string {
  return [
    'Host: short.test',
    `User-Agent: ${visitor.userAgent}`,
    ...REST,
    ...(visitor.referer === '' ? [] : [`Referer: ${visitor.referer}`]),
    ...(visitor.address === undefined ? [] : [`X-Forwarded-For: ${visitor.address}`]),
  ].join('\r\n');
}
