import { directGet } from './direct-get.ts';

/** `degraded`: redirects work, and their clicks are lost. `unknown`: ingest does not respond at `SHORT_URL`. */
const REDIRECT_STATES = ['ready', 'degraded', 'unknown'] as const;
export type RedirectState = (typeof REDIRECT_STATES)[number];

const TIMEOUT_MS = 2_000;
/** The state is cached this long, because every open console asks for it. */
const KEPT_MS = 5_000;

/**
 * Returns a function that asks ingest for its state, at most once in a few seconds for all callers. Behind a load
 * balancer one of the ingest processes responds.
 *
 * @param shortUrl origin of ingest
 */
export function createRedirectHealth(shortUrl: string): () => Promise<RedirectState> {
  let last: { at: number; state: Promise<RedirectState> } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.at > KEPT_MS) last = { at: now, state: stateAt(shortUrl) };
    return last.state;
  };
}

async function stateAt(shortUrl: string): Promise<RedirectState> {
  try {
    const { status, body } = await directGet(`${shortUrl}/health/ready`, TIMEOUT_MS);
    const state: unknown = status === 200 ? JSON.parse(body).status : null;
    return state === 'ready' || state === 'degraded' ? state : 'unknown';
  } catch {
    return 'unknown';
  }
}
