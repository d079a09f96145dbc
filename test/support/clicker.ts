import { Agent, get } from 'node:http';
import { LIMIT_MS } from './until.ts';

export type ClickerOptions = {
  /** Short links to click in turn. */
  urls: string[];
  /** Ends after this many responses, or at `seconds`, or when the signal fires. */
  count?: number;
  seconds?: number;
  signal?: AbortSignal;
  connections?: number;
  /** Uses a new connection for each click, as most visitors do. */
  newConnections?: boolean;
  /** Pause of each connection after a response, milliseconds. */
  paceMs?: number;
  headers?: (index: number) => Record<string, string>;
  /** Longest silence of a connection, milliseconds; a minute by default. */
  timeoutMs?: number;
};

export type Clicked = {
  /** Visitor ids (`_vid` of the Location) of the clicks that got a redirect: one each. */
  answered: string[];
  /** Responses other than a redirect, by status. */
  refused: Map<number, number>;
  /** The error of each request without a response. Their clicks may or may not be stored. */
  unanswered: string[];
};

/**
 * Clicks short links as new visitors do, over keep-alive connections by default, and records the redirects: every click
 * gets a visitor id of its own, so the ids can be counted in ClickHouse afterwards. A refused connection
 * is retried after 20 ms.
 */
export async function clickLinks(options: ClickerOptions): Promise<Clicked> {
  const { urls, count = Number.POSITIVE_INFINITY, connections = 16, timeoutMs = LIMIT_MS } = options;
  const agent = new Agent({
    keepAlive: !options.newConnections,
    maxSockets: connections,
    timeout: UNUSED_MS,
  });
  const clicked: Clicked = { answered: [], refused: new Map(), unanswered: [] };
  const deadline = Date.now() + (options.seconds ?? 600) * 1_000;
  let started = 0;

  const connection = async () => {
    while (clicked.answered.length < count && Date.now() < deadline && !options.signal?.aborted) {
      if (started - clicked.unanswered.length - total(clicked.refused) >= count) return;
      const index = started++;
      const url = urls[index % urls.length] ?? '';
      try {
        const headers = options.headers?.(index) ?? BROWSER;
        const { status, location } = await request(url, { agent, headers, timeout: timeoutMs });
        const visitor = status === 302 && location ? new URL(location).searchParams.get('_vid') : null;
        if (visitor) clicked.answered.push(visitor);
        else clicked.refused.set(status, (clicked.refused.get(status) ?? 0) + 1);
      } catch (error) {
        clicked.unanswered.push(error instanceof Error ? error.message : String(error));
        await sleep(20);
      }
      if (options.paceMs) await sleep(options.paceMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  return clicked;
}

/**
 * Visits each address until it redirects: the first visitor of a link may need PostgreSQL, and gets 503 when that takes
 * longer than a second. After that the link is in memory.
 *
 * @returns the visitor ids of the redirects, one for each address
 */
export async function firstVisits(urls: string[]): Promise<string[]> {
  const visits = urls.map((url) =>
    clickLinks({ urls: [url], count: 1, connections: 1, paceMs: 100, seconds: LIMIT_MS / 1_000 }),
  );
  return (await Promise.all(visits)).map(({ answered: [visitor], refused, unanswered }, at) => {
    if (visitor !== undefined) return visitor;
    throw new Error(`${urls[at]} did not redirect: ${JSON.stringify([...refused])}, ${unanswered}`);
  });
}

/**
 * Idle connections are closed after this time. Servers close them after 10 s, and a request that meets such a close
 * gets no response (a browser would send it again).
 */
export const UNUSED_MS = 5_000;

const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};

function request(url: string, options: { agent: Agent; headers: Record<string, string>; timeout: number }) {
  return new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
    const sent = get(url, options, (response) => {
      const { statusCode: status = 0 } = response;
      response.once('error', reject);
      response.once('end', () => resolve({ status, location: response.headers.location }));
      response.resume();
    });
    sent.once('timeout', () => sent.destroy(new Error(`no answer within ${options.timeout / 1_000} s`)));
    sent.once('error', reject);
  });
}

function total(counts: Map<number, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
