import { Agent, get } from 'node:http';

export type ClickerOptions = {
  /** Short links that are clicked in turn. */
  urls: string[];
  /** Ends when this many clicks were answered, or at `seconds`, or when the signal fires. */
  count?: number;
  seconds?: number;
  signal?: AbortSignal;
  connections?: number;
  /** A connection of its own for each click, as most visitors have. */
  newConnections?: boolean;
  /** Pause of each connection after an answer, milliseconds. */
  paceMs?: number;
  headers?: (index: number) => Record<string, string>;
};

export type Clicked = {
  /** Visitor ids (`_vid` of the Location) of the clicks that were answered with a redirect: one each. */
  answered: string[];
  /** Answers other than a redirect, by status. */
  refused: Map<number, number>;
  /** What went wrong with each request that got no answer. Their clicks may or may not be stored. */
  unanswered: string[];
};

/**
 * Clicks short links as new visitors do, over keep-alive connections unless told otherwise, and notes who was answered: every click
 * gets a visitor id of its own, so the ids of the answers can be counted in the store afterwards. A connection
 * that is refused is tried again after 20 ms.
 */
export async function clickLinks(options: ClickerOptions): Promise<Clicked> {
  const { urls, count = Number.POSITIVE_INFINITY, connections = 16 } = options;
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
        const { status, location } = await request(url, agent, options.headers?.(index) ?? BROWSER);
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
 * A connection that is not used for so long is given up: the servers end it after 10 s, and a request that meets that end
 * has no answer (a browser would send it again).
 */
const UNUSED_MS = 5_000;

const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};

function request(url: string, agent: Agent, headers: Record<string, string>) {
  return new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
    const sent = get(url, { agent, headers, timeout: 10_000 }, (response) => {
      const { statusCode: status = 0 } = response;
      response.once('error', reject);
      response.once('end', () => resolve({ status, location: response.headers.location }));
      response.resume();
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer within 10 s')));
    sent.once('error', reject);
  });
}

function total(counts: Map<number, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
