import { Agent, type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as TlsAgent } from 'node:https';
import { type ClickHouseSettings, parseError } from '@clickhouse/client';

type Asked = {
  /** Text with `{name:Type}` parameters, never with values in it. */
  sql: string;
  /** Texts, numbers and null; arrays of texts and of numbers, of any length. */
  params: Record<string, unknown>;
  settings: ClickHouseSettings;
};

/** A connection to the store for questions. */
export type QueryConnection = {
  /**
   * Every row of the answer.
   *
   * @throws {ClickHouseError} what the store says; an error of the network, or `Timeout error`, when it says nothing
   */
  rows<Row>(asked: Asked): Promise<Row[]>;
  /** As {@link rows}, each as the text that the store wrote: an object of JSON without a line break in it. */
  lines(asked: Asked): Promise<string[]>;
  close(): void;
};

/** The store holds an answer back until it is whole, in memory up to so many bytes: an error never comes in its middle. */
const HELD_BACK = { wait_end_of_query: '1', http_response_buffer_size: String(16 * 1024 * 1024) };

/**
 * Rows become text in the thread that brings them. Threads of their own for that take 0.8 ms to start, of the 2 that
 * `SELECT 1` takes, and pay only for answers far longer than ours.
 */
const WRITTEN_AT_ONCE = { output_format_parallel_formatting: '0' };

/** Longest parameters in a URL, as text. Hundreds of ids would make one that proxies refuse; then they go into the body. */
const IN_URL = 4_096;

/**
 * Asks by HTTP without the store's client, which begins each request with a timer of a millisecond, more than many a question
 * takes in the store itself (clickhouse-js, `socket_pool`: `sleep(0)`), and reads answers row by row.
 *
 * What that timer guards against, a connection that the store closed while it was idle, is asked again on another: a
 * question changes nothing.
 *
 * @param given.timeoutMs longest silence of the store
 */
export function createQueryConnection(given: {
  url: string;
  database: string;
  timeoutMs: number;
  maxConnections: number;
  settings: ClickHouseSettings;
}): QueryConnection {
  const { database, timeoutMs, maxConnections } = given;
  const url = new URL(given.url);
  const isTls = url.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: maxConnections };
  const agent = isTls ? new TlsAgent(options) : new Agent(options);
  const request = isTls ? requestHttps : requestHttp;
  const path = `${url.pathname}?`;
  const fixed = {
    ...HELD_BACK,
    ...WRITTEN_AT_ONCE,
    ...texts(given.settings),
    database,
    default_format: 'JSONEachRow',
  };
  const user = decodeURIComponent(url.username) || 'default';
  // The embedded ClickHouse replies to this header alone, as the store's client sends it.
  const headers = {
    Authorization: `Basic ${Buffer.from(`${user}:${decodeURIComponent(url.password)}`).toString('base64')}`,
  };

  function send(query: string, type: string, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent: ClientRequest = request(
        {
          agent,
          host: url.hostname.replace(/^\[|\]$/g, ''),
          port: url.port || (isTls ? 443 : 80),
          method: 'POST',
          path: path + query,
          headers: { ...headers, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) },
          timeout: timeoutMs,
        },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.once('error', reject);
          answer.once('end', () => {
            const whole = Buffer.concat(chunks).toString('utf8');
            if (answer.statusCode === 200) resolve(whole);
            else reject(parseError(whole || `the store answered ${answer.statusCode} without a word`));
          });
        },
      );
      sent.once('timeout', () => sent.destroy(new Error('Timeout error.')));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const wasClosed = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        if (wasClosed) resolve(send(query, type, body));
        else reject(error);
      });
      sent.end(body);
    });
  }

  function answer(asked: Asked): Promise<string> {
    const { sql, fields } = withFields(asked);
    const query = new URLSearchParams({ ...fixed, ...texts(asked.settings) });
    if (fields.reduce((sum, { value }) => sum + value.length, 0) > IN_URL) {
      const boundary = crypto.randomUUID();
      const body = multipart([{ name: 'query', value: sql }, ...fields], boundary);
      return send(query.toString(), `multipart/form-data; boundary=${boundary}`, body);
    }
    for (const { name, value } of fields) query.set(name, value);
    return send(query.toString(), 'text/plain; charset=utf-8', sql);
  }

  return {
    async rows<Row>(asked: Asked) {
      // A line break inside a value is escaped: each that stands here ends a row.
      return JSON.parse(`[${(await answer(asked)).trimEnd().replaceAll('\n', ',')}]`) as Row[];
    },
    async lines(asked: Asked) {
      const text = (await answer(asked)).trimEnd();
      return text === '' ? [] : text.split('\n');
    },
    close: () => agent.destroy(),
  };
}

function texts(settings: ClickHouseSettings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}

type Field = { name: string; value: string };

/**
 * Parameters as fields of the request. The store takes no field beyond 128 KiB (`http_max_field_value_size`), which
 * 3,400 ids are: a longer array is given in pieces and put together in the text.
 */
function withFields({ sql, params }: Pick<Asked, 'sql' | 'params'>): { sql: string; fields: Field[] } {
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

/** Bytes of one field. */
const IN_FIELD = 100_000;

/** Arrays that are the given one when they stand behind each other, as texts; one at least. */
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

/** A parameter as the store reads it: as in TabSeparated. */
function valueText(value: unknown): string {
  if (value === null) return '\\N';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value !== 'string') throw new TypeError(`a parameter that is ${typeof value}`);
  return value.replace(/[\\'\t\n\r]/g, (character) => ESCAPES[character] ?? character);
}

/** RFC 7578. The names are ours. */
function multipart(fields: readonly Field[], boundary: string): string {
  const parts = fields.map(
    ({ name, value }) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}
