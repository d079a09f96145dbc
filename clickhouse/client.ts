import { Readable } from 'node:stream';
import {
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  type ResponseHeaders,
} from '@clickhouse/client';
import { type Address, type Credentials, credentialsOf } from '../core/settings/credentials.ts';
import { loginOf, withCredentials } from './credentials.ts';
import { createQueryConnection, type QueryConnection } from './query-connection.ts';
import { assertFromClickHouse, explained } from './responses.ts';

/** The client of ClickHouse, for inserts and streams; `queries` reads rows. */
export type ClickHouseClient = ReturnType<typeof createClient> & {
  readonly queries: QueryConnection;
  /** A connection for checks alone: it waits for no query, and not for long. */
  readonly probes: Pick<QueryConnection, 'rows'>;
};

export type ClickHouseOptions = {
  /** `http://user:password@host:port`, or credentials that are read again when ClickHouse refuses them. */
  url: Address;
  database: string;
  /** Longest silence of the server, milliseconds. */
  timeoutMs?: number;
  maxConnections?: number;
};

/** Longest silence of a server that is checked, milliseconds. */
const PROBE_MS = 2_000;

const SETTINGS: ClickHouseSettings = {
  async_insert: 0,
  date_time_input_format: 'best_effort',
  output_format_json_quote_64bit_integers: 1,
};

/** Creates a client. Its inserts are synchronous: when one resolves, its rows are stored. */
export function createClickHouse(options: ClickHouseOptions): ClickHouseClient {
  const { database, timeoutMs = 30_000, maxConnections = 16 } = options;
  const credentials = credentialsOf(options.url);
  const client = createClient({
    url: credentials.url(),
    database,
    request_timeout: timeoutMs,
    max_open_connections: maxConnections,
    // The client logs to the console in a format of its own. It also throws every error.
    log: { level: ClickHouseLogLevel.OFF },
    compression: { response: false, request: false },
    // A URL with hundreds of ids is too long for some proxies.
    use_multipart_params_auto: true,
    clickhouse_settings: SETTINGS,
  });
  // Without this limit the server would continue a query whose caller has given up.
  const settings: ClickHouseSettings = { ...SETTINGS, max_execution_time: Math.ceil(timeoutMs / 1_000) };
  const queries = createQueryConnection({ credentials, database, timeoutMs, maxConnections, settings });
  const probes = createQueryConnection({
    credentials,
    database,
    timeoutMs: PROBE_MS,
    maxConnections: 1,
    settings: SETTINGS,
  });
  const close = client.close.bind(client);
  return Object.assign(client, {
    queries,
    probes,
    query: checked(client.query.bind(client), credentials),
    insert: checked(client.insert.bind(client), credentials),
    command: checked(client.command.bind(client), credentials),
    exec: checked(client.exec.bind(client), credentials),
    async close() {
      queries.close();
      probes.close();
      await close();
    },
  });
}

/** The response of a request. An insert without rows is not sent. */
type Sent = { response_headers: ResponseHeaders; executed?: boolean; stream?: unknown; close?: () => void };

/**
 * Sends with the current credentials. Rejects with errors that the table of faults knows, even when another program
 * than ClickHouse responds. Rows from a stream are sent once.
 */
function checked<Request extends (given: never) => Promise<unknown>>(
  request: Request,
  credentials: Credentials,
): Request {
  const send = async (given: object) => {
    const isStream = 'values' in given && given.values instanceof Readable;
    const response = await withCredentials(
      credentials,
      (address) =>
        request({ ...given, auth: loginOf(address) } as never).catch((error: unknown) => {
          throw explained(error);
        }),
      { once: isStream },
    );
    const sent = response as Sent;
    try {
      if (sent.executed !== false) assertFromClickHouse(sent.response_headers, 200);
    } catch (error) {
      if (sent.stream instanceof Readable) sent.stream.destroy();
      else sent.close?.();
      throw error;
    }
    return response;
  };
  return send as unknown as Request;
}

/**
 * Checks that the server responds to queries with these credentials; `/ping` needs none.
 *
 * @throws its error when it does not
 */
export async function assertAnswers(clickhouse: ClickHouseClient): Promise<void> {
  await clickhouse.queries.rows({ sql: 'SELECT 1', params: {}, settings: {} });
}

/** Returns whether {@link assertAnswers} holds. */
export function answers(clickhouse: ClickHouseClient): Promise<boolean> {
  return assertAnswers(clickhouse).then(
    () => true,
    () => false,
  );
}

/**
 * Checks as {@link assertAnswers} does, on a connection of its own, that the server responds within two seconds.
 *
 * @throws its error when it does not
 */
export async function assertAnswersSoon({ probes }: Pick<ClickHouseClient, 'probes'>): Promise<void> {
  await probes.rows({ sql: 'SELECT 1', params: {}, settings: {} });
}
