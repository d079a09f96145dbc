import { HoplogError } from './errors.ts';
import type { Click } from './generated/types.ts';
import { mayPass, pause, pauseOf } from './retry.ts';

export type LiveOptions = {
  /** Only clicks of these links, at most 500. */
  linkIds?: readonly string[];
  /** Begins with clicks of this instant, at most a day back. Default: with the next click. */
  since?: string | Date;
  /** Filters of `GET /clicks/live`: `{ country: 'DE', bots: 'include' }`. */
  filter?: Record<string, string | readonly string[] | undefined>;
  /** Ends the stream. */
  signal?: AbortSignal;
};

type OpenStream = (query: Record<string, unknown>, signal: AbortSignal) => Promise<Response>;

/** The API sends a comment every 15 seconds. Milliseconds. */
const SILENCE_MS = 45_000;
const LONGEST_OUTAGE = 6;

/** Clicks as they become visible, each once. Reconnects after an outage, from the last click on. */
export async function* liveClicks(open: OpenStream, options: LiveOptions = {}): AsyncGenerator<Click> {
  const { since, signal } = options;
  let position = since instanceof Date ? since.toISOString() : since;
  let wasReached = false;
  let failures = 0;
  for (;;) {
    signal?.throwIfAborted();
    const connection = new AbortController();
    const end = () => connection.abort(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    try {
      const query = {
        ...options.filter,
        ...(options.linkIds && { link_ids: options.linkIds }),
        since: position,
      };
      const response = await open(query, connection.signal);
      wasReached = true;
      for await (const { id, event, data } of eventsOf(response)) {
        failures = 0;
        if (event === 'click') yield JSON.parse(data) as Click;
        position = id ?? position;
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!wasReached || !mayPass(error)) throw error;
      failures += 1;
    } finally {
      signal?.removeEventListener('abort', end);
      // Ends the connection also when the loop is left.
      connection.abort();
    }
    await pause(pauseOf(Math.min(failures, LONGEST_OUTAGE), null), signal);
  }
}

type StreamEvent = { id: string | undefined; event: string; data: string };

/** Parses server-sent events. @throws HoplogError `network` when the connection breaks off or is silent */
export async function* eventsOf(response: Response): AsyncGenerator<StreamEvent> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await readWithin(reader, SILENCE_MS);
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield eventOf(block);
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing was sent for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    const message = `the stream broke off: ${error instanceof Error ? error.message : String(error)}`;
    throw new HoplogError({ status: 0, code: 'network', message }, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function eventOf(block: string): StreamEvent {
  const fields = block.split('\n').map((line) => /^(\w*):? ?(.*)$/.exec(line) ?? []);
  const all = (name: string) => fields.filter(([, key]) => key === name).map(([, , value = '']) => value);
  return { id: all('id').at(-1), event: all('event').at(-1) ?? '', data: all('data').join('\n') };
}
