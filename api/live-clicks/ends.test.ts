import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { QuestionConnection } from '../../clickhouse/ask-over-http.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import { openEventStream, originOf } from '../../test/support/event-stream.ts';

let api: TestApi | undefined;

afterEach(() => api?.close());

test('connections end with the server, at once and also when nothing happens on them', async () => {
  api = await testApi();
  const shop = await api.addWorkspace();
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const authorization = `Bearer ${shop.secretKey}`;
  const live = await Promise.all([
    openEventStream(url, { authorization }),
    openEventStream(url, { authorization }),
  ]);
  expect(live.map(({ status }) => status)).toEqual([200, 200]);
  const closed = api.app.close();
  await Promise.all(live.map(({ ended }) => ended));
  await closed;
  for (const { rest } of live) expect(rest()).toBe('');
});

test('it is 503 while the store of clicks is away, and a connection ends when it stays away', async () => {
  let isAway = false;
  api = await testApi(({ clickhouse }) => ({
    clickhouse: Object.assign(clickhouse, { questions: awayWhen(clickhouse.questions, () => isAway) }),
  }));
  const shop = await api.addWorkspace();
  const url = `${await originOf(api.app)}/api/v1/clicks/live`;
  const authorization = `Bearer ${shop.secretKey}`;
  const live = await openEventStream(url, { authorization });
  isAway = true;
  await delay(1_000); // a short absence is borne
  isAway = false;
  await delay(1_000);
  isAway = true;
  await live.ended;
  const refused = await shop.get('/clicks/live');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
}, 60_000);

function awayWhen(questions: QuestionConnection, isAway: () => boolean): QuestionConnection {
  return {
    ...questions,
    rows: (asked) =>
      isAway()
        ? Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
        : questions.rows(asked),
  };
}
