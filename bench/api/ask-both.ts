import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Body, Question, Row } from './questions.ts';

/** Asks over HTTP, with connections that stay open, as a client of either would. */
export type Asker = {
  /** @returns milliseconds, and what both must agree on */
  api(question: Question, turn: number): Promise<{ milliseconds: number; gist: string }>;
  sql(question: Question, turn: number): Promise<{ milliseconds: number; gist: string }>;
  close(): void;
};

export function createAsker(given: {
  apiUrl: string;
  key: string;
  clickhouseUrl: string;
  database: string;
}): Asker {
  const agent = new Agent({ keepAlive: true });
  const store = new URL(given.clickhouseUrl);
  const user = {
    Authorization: `Basic ${Buffer.from(`${store.username}:${store.password}`).toString('base64')}`,
  };
  const storeUrl = `http://${store.host}/?database=${given.database}&default_format=JSONEachRow`;

  function send(url: string, headers: Record<string, string>, body?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (answer) => {
        text(answer).then((whole) => {
          if (answer.statusCode === 200) resolve(whole);
          else
            reject(new Error(`${url.slice(0, 120)} answered ${answer.statusCode}: ${whole.slice(0, 500)}`));
        }, reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  }

  async function rowsOf(sql: string): Promise<Row[]> {
    const answer = await send(storeUrl, user, sql);
    return answer
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row);
  }

  return {
    async api(question, turn) {
      const began = performance.now();
      const answer = await send(`${given.apiUrl}${question.path(turn)}`, {
        authorization: `Bearer ${given.key}`,
      });
      const body = JSON.parse(answer) as Body;
      return { milliseconds: performance.now() - began, gist: question.gist.api(body) };
    },
    async sql(question, turn) {
      const steps = question.sql(turn);
      const began = performance.now();
      let first: Row[] | null = null;
      for (const statements of steps) {
        const answers = await Promise.all(statements.map((sql) => rowsOf(sql(first ?? []))));
        first ??= answers[0] ?? [];
      }
      return { milliseconds: performance.now() - began, gist: question.gist.sql(first ?? []) };
    },
    close: () => agent.destroy(),
  };
}
