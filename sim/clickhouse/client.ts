import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Network } from '../world/network.ts';
import { world } from '../world/world.ts';
import { readClicks } from './read-clicks.ts';
import type { ClickHouseServer } from './server.ts';

type Exec = {
  query: string;
  values: AsyncIterable<Uint8Array>;
  abort_signal?: AbortSignal;
  clickhouse_settings: { insert_deduplication_token: string };
};
type Query = { query: string; query_params: Record<string, unknown> };

/**
 * Returns what a process has in place of ClickHouse's client. The inserts of `clickhouse/inserts` reach the server as
 * their bytes. Their two queries are answered here (`contract.test.ts`).
 *
 * @param onSend called when a process sends an insert
 */
export function createClient(
  server: ClickHouseServer,
  network: Network,
  onSend: (token: string) => void = () => undefined,
): ClickHouseClient {
  const client = {
    async exec({ query, values, abort_signal: signal, clickhouse_settings: settings }: Exec) {
      world().beforeOperation();
      if (query !== 'INSERT INTO clicks FORMAT Native') throw new Error(`the simulator has no ${query}`);
      const pieces: Uint8Array[] = [];
      for await (const piece of values) pieces.push(piece);
      const clicks = readClicks(Buffer.concat(pieces));
      const token = settings.insert_deduplication_token;
      onSend(token);
      await unlessAborted(
        network.ask(() => server.insert(token, clicks)),
        signal,
      );
      return { stream: nothing() };
    },

    async query({ query, query_params: params }: Query) {
      world().beforeOperation();
      const rows = await network.ask(async () => {
        server.assertUp();
        // One server: `syncReplica` has nothing to wait for.
        if (query.includes('FROM system.tables')) return [{ engine: 'MergeTree' }];
        return answer(server, query, params);
      });
      return { json: async () => rows };
    },
  };
  return client as unknown as ClickHouseClient;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** What was sent is done by the server nevertheless. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal?.reason);
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', aborted));
  });
}

/** `presentSequences` and `storedAbove`. */
function answer(
  { clicks }: ClickHouseServer,
  query: string,
  params: Record<string, unknown>,
): [string, string][] {
  if (query.includes('FROM identifies')) return [];
  if (query.includes('sequence BETWEEN')) {
    const { from, to, least, greatest } = params;
    return [...clicks.values()]
      .filter(
        ({ ts, sequence }) => ts >= Number(from) && ts < Number(to) && isBetween(sequence, least, greatest),
      )
      .map(({ ordinal, sequence }) => [String(ordinal), String(sequence)]);
  }
  if (!query.includes('max(sequence) AS newest')) throw new Error(`the simulator has no ${query}`);
  const [next, times] = [params.next as readonly bigint[], params.times as readonly number[]];
  const newest = new Map<number, bigint>();
  for (const { ordinal, sequence, ts } of clicks.values()) {
    const above = next[ordinal];
    if (above === undefined || ts < Number(params.from) || ts < (times[ordinal] ?? 0) || sequence < above)
      continue;
    if (sequence > (newest.get(ordinal) ?? -1n)) newest.set(ordinal, sequence);
  }
  return [...newest].map(([ordinal, sequence]) => [String(ordinal), String(sequence)]);
}

function isBetween(sequence: bigint, least: unknown, greatest: unknown): boolean {
  return sequence >= BigInt(String(least)) && sequence <= BigInt(String(greatest));
}
