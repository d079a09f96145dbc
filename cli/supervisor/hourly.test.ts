import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { logHourly } from './hourly.ts';

test('each interval has one line with the clicks since the line before, lag, free space, and memory', async () => {
  let redirected = 100;
  const server = createServer((_request, response) =>
    response.end(
      `hoplog_ingest_redirects_total{outcome="redirected"} ${redirected}\n` +
        'hoplog_ingest_redirects_total{outcome="unknown"} 7\nhoplog_ingest_lost_total{kind="click"} 0\n' +
        'hoplog_watermark_age_seconds{tier="workers"} 0.31\n',
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(JSON.parse(String(chunk)));
        if (lines.at(-1)?.redirects !== null) redirected = 130;
        done();
      },
    }),
  );
  const end = logHourly({ dataDir: tmpdir(), ingestMetrics: url, workerMetrics: url, log, everyMs: 20 });
  onTestFinished(end);
  // Excludes intervals in which a slow machine did not respond in time.
  const whole = () => lines.filter((line) => line.redirects !== null && line.watermark_age_seconds !== null);
  await expect.poll(() => whole().length).toBeGreaterThan(2);
  const [first] = whole();
  expect(first).toMatchObject({ level: 30, redirects: 100, lost: 0, watermark_age_seconds: 0.3 });
  expect(first?.free_mib).toBeGreaterThan(0);
  if (process.platform === 'linux') expect(first?.memory_mib).toBeGreaterThan(20);
  expect(first?.msg).toMatch(
    /^this hour: 100 redirects, 0 clicks lost, clicks visible up to 0.3 s ago, \d+ MiB free/,
  );
  expect(lines.reduce((sum, { redirects }) => sum + Number(redirects), 0)).toBe(130);

  await new Promise((resolve) => server.close(resolve));
  const silent = lines.length + 1;
  await expect.poll(() => lines.length).toBeGreaterThan(silent);
  expect(lines.at(-1)).toMatchObject({ redirects: null, lost: null, watermark_age_seconds: null });
});
