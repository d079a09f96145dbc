import { type Clicks, type Groups, OPERATIONS } from './generated/operations.ts';
import type { Click, ClicksPage } from './generated/types.ts';
import { listOf } from './list.ts';
import { type LiveOptions, liveClicks } from './live.ts';
import type { Operation, RequestOptions } from './operation.ts';
import { type Poll, type PollOptions, pollOf } from './poll.ts';
import { type Call, createTransport, type Transport } from './transport.ts';

export type HoplogOptions = {
  /** A key of the workspace: `lk_live_...`. Pages have publishable ones: `pk_live_...`. */
  key: string;
  /** Address of the API: `https://api.example`. Default: the environment variable `HOPLOG_URL`. */
  baseUrl?: string;
  /** Default: the runtime's own. */
  fetch?: typeof fetch;
  /** Longest time of one attempt in milliseconds. Default: 30,000. */
  timeoutMs?: number;
  /** How often a failed attempt is repeated. Default: 3. */
  retries?: number;
};

/** The operations on clicks, and the two ways to follow them. */
export type ClicksWithFeeds = Clicks & {
  /** Every click once, as it becomes visible, without an end. Its state continues it in another process. */
  poll(options?: PollOptions): Poll;
  /** Clicks from now on, within a second. Reconnects from the last one on. */
  live(options?: LiveOptions): AsyncIterable<Click>;
};

// The groups are made from the table of operations, which is generated with their types.
const WithGroups = class {
  constructor(transport: Transport) {
    Object.assign(this, groupsOf(transport));
  }
} as new (
  transport: Transport,
) => Omit<Groups, 'clicks'>;

/** A client of the API. Each operation of the API reference is a method: `hoplog.links.create(...)`. */
export class Hoplog extends WithGroups {
  declare readonly clicks: ClicksWithFeeds;

  /** @throws TypeError without a key or an address */
  constructor({ key, baseUrl = addressInEnvironment(), ...options }: HoplogOptions) {
    if (!key) throw new TypeError('`key` is required: a key of the workspace, `lk_live_...`');
    if (!baseUrl) throw new TypeError('`baseUrl` is required: pass it, or set HOPLOG_URL');
    const transport = createTransport({
      key,
      apiUrl: `${baseUrl.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}/api/v1`,
      // Not bound to these settings: browsers refuse that.
      fetch: options.fetch ?? ((...request) => fetch(...request)),
      timeoutMs: options.timeoutMs ?? 30_000,
      retries: options.retries ?? 3,
    });
    super(transport);
    Object.assign(this.clicks, feedsOf(transport));
  }
}

function groupsOf(transport: Transport): Record<string, Record<string, unknown>> {
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    const [group = '', name = ''] = id.split('.');
    groups[group] ??= {};
    groups[group][name] = methodOf(transport, operation);
  }
  return groups;
}

/** Its arguments: the parameters of the path, the body, the query, and options. */
function methodOf(transport: Transport, operation: Operation) {
  const inPath = operation.path.split('{').length - 1;
  return (...given: unknown[]): unknown => {
    const rest = given.slice(inPath);
    const call: Call = { path: given.slice(0, inPath) as string[] };
    if (operation.body) call.body = rest.shift();
    if (operation.query) call.query = rest.shift() as Call['query'];
    const options = rest.shift() as RequestOptions | undefined;
    return operation.rows === undefined
      ? transport(operation, call, options)
      : listOf(transport, operation, call, options);
  };
}

function feedsOf(transport: Transport): Pick<ClicksWithFeeds, 'poll' | 'live'> {
  return {
    poll: (options) => {
      const of = options?.signal && { signal: options.signal };
      return pollOf(
        (query) => transport(OPERATIONS['clicks.list'], { query }, of) as Promise<ClicksPage>,
        options,
      );
    },
    live: (options) =>
      liveClicks(
        (query, signal) => transport(OPERATIONS['clicks.stream'], { query }, { signal }) as Promise<Response>,
        options,
      ),
  };
}

/** Browsers have no environment, and Deno may refuse to show it. */
function addressInEnvironment(): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.HOPLOG_URL;
  } catch {
    return undefined;
  }
}
