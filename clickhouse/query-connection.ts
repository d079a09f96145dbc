import { Agent, type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { Credentials } from '../core/settings/credentials.ts';
import { authorizationOf, withCredentials } from './credentials.ts';
import { assertFromClickHouse, errorOfResponse, explained } from './responses.ts';

type QueryRequest = {
  /** Text with `{name:Type}` parameters, never with values in it. */
  sql: string;
  /** Texts, numbers and null; arrays of texts and of numbers, of any length. */
  params: Record<string, unknown>;
  settings: ClickHouseSettings;
};

/** Connections to ClickHouse that read rows. */
export type QueryConnection = {
  /**
   * Returns every row of the result.
   *
   * @throws {ClickHouseError} the server's error; {@link DatabaseConnectionError} when something else responds; a
   *   network error, or `Timeout error`, when the server is silent
   */
  rows<Row>(request: QueryRequest): Promise<Row[]>;
  /** Returns every row as the text that the server wrote: a JSON object without a line break in it. */
  lines(request: QueryRequest): Promise<string[]>;
  close(): void;
};

/**
 * The server sends a response when it is complete, from memory up to this size: an error never comes in the middle of
 * one.
 */
const BUFFERED = { wait_end_of_query: '1', http_response_buffer_size: String(16 * 1024 * 1024) };

/** Threads of their own for formatting take longer to start than a page of rows takes to format. */
const FORMATTED_IN_PLACE = { output_format_parallel_formatting: '0' };

/**
 * Longest parameters in a URL, in characters. Longer ones go into the body: proxies refuse URLs with hundreds of ids.
 */
const IN_URL = 4_096;

/**
 * Creates connections that read rows over HTTP without `@clickhouse/client`, which waits for a timer before each
 * request (`sleep(0)` in `socket_pool.js`) and parses responses row by row: more than a millisecond a query. The
 * package can replace this code once https://github.com/ClickHouse/clickhouse-js/issues/294 is solved without that
 * timer.
 *
 * The timer guards against a connection that the server closed while it was idle. Here such a query is sent again on
 * another connection: a query changes nothing.
 *
 * @param given.timeoutMs longest silence of the server
 */
export function createQueryConnection(given: {
  credentials: Credentials;
  database: string;
  timeoutMs: number;
  maxConnections: number;
  settings: ClickHouseSettings;
}): QueryConnection {
  const { credentials, database, timeoutMs, maxConnections } = given;
  const url = new URL(credentials.url());
  const isTls = url.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: maxConnections };
  const agent = isTls ? new TlsAgent(options) : new Agent(options);
  const request = isTls ? requestHttps : requestHttp;
  const path = `${url.pathname}?`;
  const fixed = {
    ...BUFFERED,
    ...FORMATTED_IN_PLACE,
    ...texts(given.settings),
    database,
    default_format: 'JSONEachRow',
  };

  function send(search: string, type: string, body: string): Promise<string> {
    return withCredentials(credentials, (address) => sendOnce(authorizationOf(address), search, type, body));
  }

  function sendOnce(authorization: string, search: string, type: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent: ClientRequest = request(
        {
          agent,
          host: url.hostname.replace(/^\[|\]$/g, ''),
          port: url.port || (isTls ? 443 : 80),
          method: 'POST',
          path: path + search,
          headers: {
            // The embedded ClickHouse accepts credentials in this header only.
            Authorization: authorization,
            'Content-Type': type,
            'Content-Length': Buffer.byteLength(body),
          },
          timeout: timeoutMs,
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.once('error', reject);
          response.once('end', () => {
            const whole = Buffer.concat(chunks).toString('utf8');
            const { statusCode = 0, headers: sentBack } = response;
            try {
              if (statusCode !== 200) throw errorOfResponse(statusCode, whole);
              if (whole === '') assertFromClickHouse(sentBack, statusCode);
              resolve(whole);
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      sent.once('timeout', () => sent.destroy(new Error('Timeout error.')));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const wasClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (wasClosed) resolve(sendOnce(authorization, search, type, body));
        else reject(explained(error));
      });
      sent.end(body);
    });
  }

  function run(query: QueryRequest): Promise<string> {
    const { sql, fields } = withFields(query);
    const search = new URLSearchParams({ ...fixed, ...texts(query.settings) });
    if (fields.reduce((sum, { value }) => sum + value.length, 0) > IN_URL) {
      const boundary = crypto.randomUUID();
      const body = multipart([{ name: 'query', value: sql }, ...fields], boundary);
      return send(search.toString(), `multipart/form-data; boundary=${boundary}`, body);
    }
    for (const { name, value } of fields) search.set(name, value);
    return send(search.toString(), 'text/plain; charset=utf-8', sql);
  }

  return {
    async rows<Row>(query: QueryRequest) {
      const text = (await run(query)).trimEnd();
      try {
        // A line break inside a value is escaped, so each one here ends a row.
        return JSON.parse(`[${text.replaceAll('\n', ',')}]`) as Row[];
      } catch {
        // An error after the status was sent, or not a response of ClickHouse.
        throw errorOfResponse(200, text);
      }
    },
    async lines(query: QueryRequest) {
      const text = (await run(query)).trimEnd();
      if (text === '') return [];
      if (!text.startsWith('{') || !text.endsWith('}')) throw errorOfResponse(200, text);
      return text.split('\n');
    },
    close: () => agent.destroy(),
  };
}

function texts(settings: ClickHouseSettings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}

type Field = { name: string; value: string };

/**
 * Returns parameters as fields of the request. ClickHouse takes no field beyond 128 KiB (`http_max_field_value_size`),
 * 3,400 ids: a longer array is sent in pieces, which the query joins.
 */
function withFields({ sql, params }: Pick<QueryRequest, 'sql' | 'params'>): { sql: string; fields: Field[] } {
  let text = sql;
  const fields: Field[] = [];
  for (const [name, value] of Object.entries(params)) {
    const pieces = Array.isArray(value) ? piecesOf(value) : [valueText(value)];
    if (pieces.length === 1) {
      fields.push({ name: `param_${name}`, value: pieces[0] ?? '' });
      continue;
    }
    const named = pieces.map((piece, index) => ({ name: `${name}_${index}`, piece }));
    fields.push(...named.map((one) => ({ name: `param_${one.name}`, value: one.piece })));
    text = text.replaceAll(
      new RegExp(`\\{${name}:(Array\\([^}]*)\\}`, 'g'),
      (_, type: string) => `arrayConcat(${named.map((one) => `{${one.name}:${type}}`).join(', ')})`,
    );
  }
  return { sql: text, fields };
}

/** Most bytes of one field. */
const IN_FIELD = 100_000;

/** Splits an array into at least one piece, each as text. */
function piecesOf(values: readonly unknown[]): string[] {
  const pieces: string[] = [];
  let piece: string[] = [];
  let bytes = 0;
  for (const value of values) {
    const text = typeof value === 'string' ? `'${valueText(value)}'` : valueText(value);
    const length = Buffer.byteLength(text) + 1;
    if (bytes + length > IN_FIELD && piece.length > 0) {
      pieces.push(`[${piece.join(',')}]`);
      [piece, bytes] = [[], 0];
    }
    piece.push(text);
    bytes += length;
  }
  return [...pieces, `[${piece.join(',')}]`];
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Formats a parameter as ClickHouse parses it: as in TabSeparated. */
function valueText(value: unknown): string {
  if (value === null) return '\\N';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string')
    throw new TypeError(
      `a query parameter is ${typeof value}: it must be a string, a number, a bigint or null`,
    );
  return value.replace(/[\\'\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

/** Returns a body as RFC 7578 defines it. Names need no escaping, because they are parameters of our own queries. */
function multipart(fields: readonly Field[], boundary: string): string {
  const parts = fields.map(
    ({ name, value }) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}
