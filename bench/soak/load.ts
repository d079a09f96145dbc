import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Result of the requested redirects. */
export type Asked = {
  /** Time of each redirect, milliseconds since the epoch, by visitor id. */
  answered: Map<string, number>;
  /** Other responses, by status. */
  refused: Map<number, number>;
  /** Requests without a response. */
  failed: number;
  /** Requests retried at another process. */
  askedAgain: number;
};

export type Load = { asked: Asked; stop(): Promise<void> };

const TIMEOUT_MS = 20_000;
/** Limit of requests in flight; beyond it no more are sent, to bound memory. */
const MOST_UNDER_WAY = 2_000;
const HEADERS = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
};

/**
 * Requests short links at a fixed rate, each as a new visitor, half of them over new connections.
 *
 * @param origins used in rotation; if one does not respond, the next is tried, as by a proxy
 * @param rate redirects per second
 */
export function startLoad(given: { origins: string[]; slugs: string[]; rate: number }): Load {
  const { origins, slugs, rate } = given;
  const kept = new Agent({ keepAlive: true });
  const asked: Asked = { answered: new Map(), refused: new Map(), failed: 0, askedAgain: 0 };
  const underWay = new Set<Promise<void>>();
  let stopped = false;

  async function ask(index: number): Promise<void> {
    const path = slugs[index % slugs.length];
    for (let attempt = 0; attempt < origins.length; attempt++) {
      const origin = origins[(index + attempt) % origins.length];
      try {
        const { status, location } = await request(`${origin}/${path}`, index % 2 === 0 ? kept : false);
        const visitor = status === 302 && location ? new URL(location).searchParams.get('_vid') : null;
        if (visitor) asked.answered.set(visitor, Date.now());
        else asked.refused.set(status, (asked.refused.get(status) ?? 0) + 1);
        return;
      } catch {
        if (attempt + 1 < origins.length) asked.askedAgain += 1;
      }
    }
    asked.failed += 1;
  }

  async function run(): Promise<void> {
    const began = performance.now();
    let due = 0;
    for (let sent = 0; !stopped; await delay(5)) {
      due = ((performance.now() - began) / 1_000) * rate;
      for (; sent < due; sent++) {
        if (underWay.size >= MOST_UNDER_WAY) continue;
        const one: Promise<void> = ask(sent).finally(() => underWay.delete(one));
        underWay.add(one);
      }
    }
    await Promise.all(underWay);
    kept.destroy();
  }

  const running = run();
  return {
    asked,
    stop() {
      stopped = true;
      return running;
    },
  };
}

function request(url: string, agent: Agent | false) {
  return new Promise<{ status: number; location: string | undefined }>((resolve, reject) => {
    const sent = get(url, { agent, headers: HEADERS, timeout: TIMEOUT_MS }, (response) => {
      const { statusCode: status = 0 } = response;
      response.once('error', reject);
      response.once('end', () => resolve({ status, location: response.headers.location }));
      response.resume();
    });
    sent.once('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
    sent.once('error', reject);
  });
}
