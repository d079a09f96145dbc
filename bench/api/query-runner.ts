import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ApiQuery, Body, Row } from './queries.ts';

/** Sends queries to the API and to ClickHouse over keep-alive connections. */
export type QueryRunner = {
  /** Sends a query. @returns the latency, and the part of the result that both must agree on */
  api(query: ApiQuery, turn: number): Promise<{ milliseconds: number; gist: string }>;
  sql(query: ApiQuery, turn: number): Promise<{ milliseconds: number; gist: string }>;
  close(): void;
};

export function createQueryRunner(given: {
  apiUrl: string;
  key: string;
  clickhouseUrl: string;
  database: string;
}): QueryRunner {
  const agent = new Agent({ keepAlive: true });
  const store = new URL(given.clickhouseUrl);
  const user = {
    Authorization: `Basic ${Buffer.from(`${store.username}:${store.password}`).toString('base64')}`,
  };
  const storeUrl = `http://${store.host}/?database=${given.database}&default_format=JSONEachRow`;

  function send(url: string, headers: Record<string, string>, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(
        url,
        { agent, headers, method: body === undefined ? 'GET' : 'POST' },
        (response) => {
          text(response).then((whole) => {
            if (response.statusCode === 200) resolve(whole);
            else
              reject(
                new Error(
                  `${url.slice(0, 120)} returned status ${response.statusCode}: ${whole.slice(0, 500)}`,
                ),
              );
          }, reject);
        },
      );
      sent.once('error', reject);
      sent.end(body);
    });
  }

  async function rowsOf(sql: string): Promise<Row[]> {
    const body = await send(storeUrl, user, sql);
    return body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  }

  return {
    async api(query, turn) {
      const began = performance.now();
      const received = await send(`${given.apiUrl}${query.path(turn)}`, {
        authorization: `Bearer ${given.key}`,
      });
      const body = JSON.parse(received) as Body;
      return { milliseconds: performance.now() - began, gist: query.gist.api(body) };
    },
    async sql(query, turn) {
      const steps = query.sql(turn);
      const began = performance.now();
      let first: Row[] | null = null;
      for (const statements of steps) {
        const results = await Promise.all(statements.map((sql) => rowsOf(sql(first ?? []))));
        first ??= results[0] ?? [];
      }
      return { milliseconds: performance.now() - began, gist: query.gist.sql(first ?? []) };
    },
    close: () => agent.destroy(),
  };
}
