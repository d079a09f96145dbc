import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { printSecret, signatureHeaders } from '../../core/webhooks/signature.ts';
import { type Listener, nextListenerEvents, sawListener } from '../../sql/webhooks/listeners.ts';
import type { ApiDeps } from '../dependencies.ts';

/** Interval of heartbeats, of access checks, and of the note that the listener is there. Milliseconds. */
const HEARTBEAT_MS = 15_000;
/** Delay before a listener reconnects. Milliseconds. */
const RETRY_MS = 1_000;
/** Poll interval while there is nothing to send. Milliseconds. */
const EVERY_MS = 200;
const BATCH = 100;

export type ListenerStream = {
  /** The body of the response. */
  body: Readable;
  /** Ends the response now; the next connection sends what the listener has not received. */
  end(): void;
};

/**
 * Streams the events of a listener, each as a signed request: its headers and its body. A database that is down delays
 * them.
 *
 * @param given.after the last event that the listener has, decimal text
 */
export function openListenerStream(
  { pool, log }: Pick<ApiDeps, 'pool' | 'log'>,
  {
    listener,
    after,
    isStillAllowed,
  }: { listener: Listener; after: string; isStillAllowed: () => Promise<boolean> },
): ListenerStream {
  const { id, events, secret } = listener;
  const body = new PassThrough();
  const ended = new AbortController();
  let position = after;
  let fails = false;

  const write = (event: string, data: object) =>
    body.write(`id: ${id}.${position}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  async function send(): Promise<boolean> {
    const found = await nextListenerEvents(pool, id, position, BATCH);
    for (const row of found) {
      if (!body.writable) return false;
      position = row.id;
      const { type } = JSON.parse(row.body) as { type: string };
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Hoplog-Webhooks/1.0',
        ...signatureHeaders(row.event_id, row.body, [secret], Date.now()),
      };
      write('event', { id: row.event_id, type, headers, body: row.body });
    }
    if (body.writableNeedDrain) {
      const { signal } = ended;
      await Promise.race([once(body, 'drain', { signal }), once(body, 'close', { signal })]).catch(
        () => undefined,
      );
    }
    return found.length === BATCH;
  }

  async function run(): Promise<void> {
    while (body.writable) {
      const hasMore = await send().then(
        (more) => {
          fails = false;
          return more;
        },
        (error: unknown) => {
          if (!fails) log.debug({ err: error }, 'failed to read the events of a listener; will retry');
          fails = true;
          return false;
        },
      );
      if (!hasMore) await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  async function endUnlessPresent(): Promise<void> {
    try {
      if (!(await isStillAllowed()) || !(await sawListener(pool, id))) end();
    } catch (error) {
      log.debug({ err: error }, 'failed to check the access of a listener');
    }
  }

  function end(): void {
    // A reader that has fallen behind would keep the connection open, so it is cut: it resumes.
    const isBehind = body.readableFlowing !== null && body.writableLength + body.readableLength > 0;
    if (isBehind) body.destroy();
    else body.end();
  }

  const heartbeat = setInterval(() => {
    if (body.writable) body.write(': heartbeat\n\n');
    void endUnlessPresent();
  }, HEARTBEAT_MS);
  body.once('close', () => {
    clearInterval(heartbeat);
    ended.abort();
  });
  body.write(`retry: ${RETRY_MS}\n`);
  write('ready', { listener_id: id, secret: printSecret(secret), events });
  void run();
  return { body, end };
}
