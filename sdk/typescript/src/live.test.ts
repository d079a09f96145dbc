import { expect, test } from 'vitest';
import type { Reply } from './test-support.ts';
import { failure, scripted } from './test-support.ts';

/** A stream in small pieces, which then ends, or breaks off. */
const stream =
  (text: string, end: 'end' | 'destroy'): Reply =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const letter of text.match(/[\s\S]{1,7}/g) ?? [])
      await new Promise((sent) => response.write(letter, sent));
    response[end]();
  };
const click = (id: string) => `id: at-${id}\nevent: click\ndata: {"id":"${id}","city":"Zürich"}\n\n`;

test('live clicks continue after an end, a broken connection, and an outage, from the last click on', async () => {
  const { hoplog, got } = await scripted(
    [
      stream(`retry: 1000\nid: at-0\n\n: comment\n\n${click('a')}`, 'end'),
      stream(`${click('b')}id: at-c\nevent: cli`, 'destroy'),
      failure(503, 'unavailable', { 'retry-after': '0' }),
      stream(click('c'), 'end'),
    ],
    { retries: 0 },
  );
  const seen = [];
  for await (const { id, city } of hoplog.clicks.live({ linkIds: ['l'], filter: { bots: 'include' } })) {
    seen.push([id, city]);
    if (id === 'c') break;
  }
  expect(seen.map(([id]) => id)).toEqual(['a', 'b', 'c']);
  expect(seen.every(([, city]) => city === 'Zürich')).toBe(true);
  expect(got.map(({ url }) => url.replace('/api/v1/clicks/live?bots=include&link_ids=l', ''))).toEqual([
    '',
    '&since=at-a',
    '&since=at-b',
    '&since=at-b',
  ]);
});

test('a stream that is refused fails', async () => {
  const { hoplog } = await scripted([failure(402, 'payment_required')]);
  await expect(hoplog.clicks.live()[Symbol.asyncIterator]().next()).rejects.toThrow('said payment_required');
});

test('a signal ends a stream that is silent', async () => {
  const { hoplog } = await scripted([(response) => response.writeHead(200).write(': comment\n\n')]);
  const clicks = hoplog.clicks.live({ signal: AbortSignal.timeout(100) });
  await expect(clicks[Symbol.asyncIterator]().next()).rejects.toThrow(/abort|timeout/i);
});
