import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { storesOf } from '../kafka/deployment.ts';
import { type Clicked, clickLinks } from '../support/clicker.ts';
import { type Link, makeLink } from '../support/first-click.ts';
import { EACH_SECOND, hoplog } from '../support/hoplog.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { type Service, startService } from '../support/service.ts';
import { type ShiftedClock, shiftedClock } from '../support/shifted-clock.ts';

const TEN_YEARS = 10 * 365 * 86_400;
const THREE_HOURS = 3 * 3_600;
const CLICKS = 7;
const TOLERANCE_MS = 1_500;
/** A time that only the stream determines may be late by the duration of a restart, here of one on a loaded machine. */
const RESTART_MS = 600_000;
const PATIENT = { timeout: 60_000, interval: 250 };
/** Limit for some restarts on a loaded machine. */
const SLOW_MS = 600_000;

type Stored = { id: string; visitor_id: string; ts: string };
/** Clicks made between two moments, milliseconds since the epoch. */
type Made = { visitors: string[]; from: number; to: number };

describe('a wrong clock, with the journal as the event log', () => wrongClock('journal'));
// Both modes share the streams and their marks.
describe('a wrong clock, with Kafka as the event log', { tags: 'nightly' }, () => wrongClock('Kafka'));

function wrongClock(mode: 'journal' | 'Kafka'): void {
  let kafka: TestKafka | undefined;
  let directory: string;
  let dataDir: string;
  let clock: ShiftedClock;
  let env: Record<string, string>;
  let service: Service | undefined;
  let key: string;
  let link: Link;
  const made: Made[] = [];

  beforeAll(async () => {
    if (mode === 'Kafka' && NO_KAFKA !== false) return;
    if (mode === 'Kafka') kafka = await startKafka(1);
    directory = mkdtempSync(join(tmpdir(), 'hoplog-clock-'));
    dataDir = join(directory, 'data');
    clock = shiftedClock(directory);
    env = {
      ...clock.env,
      LOG_LEVEL: 'info',
      ...(kafka && { KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION: '1', KAFKA_PARTITIONS: '4' }),
    };
  }, SLOW_MS);
  afterAll(async () => {
    await service?.stop();
    await kafka?.close();
    if (directory) rmSync(directory, { recursive: true, force: true });
  });

  beforeEach((context) => context.skip(mode === 'Kafka' && NO_KAFKA !== false, String(NO_KAFKA)));
  afterEach(() => clock?.shift(0));

  /** Returns the service that the tests share: each leaves it running, with right times. */
  const running = () => service ?? start();

  async function start(): Promise<Service> {
    service = await startService({ dataDir, env });
    key ??= '';
    if (service.demo) {
      key = service.demo.secret_key;
      link = await makeLink(service, key, 'clock');
    }
    return service;
  }

  async function stop(): Promise<number | null | undefined> {
    const status = await service?.stop();
    service = undefined;
    return status;
  }

  async function restart(): Promise<Service> {
    expect(await stop()).toBe(0);
    return start();
  }

  async function click(): Promise<void> {
    const from = Date.now();
    const url = `${service?.short_url}/${link.slug}`;
    const load = { urls: [url], count: CLICKS, connections: 2, timeoutMs: 60_000 };
    const clicked: Clicked = await clickLinks(load);
    expect([clicked.refused, clicked.unanswered]).toEqual([new Map(), []]);
    made.push({ visitors: clicked.answered, from, to: Date.now() });
  }

  /** Waits until ingest has logged a message: each process has a stream, and finds out about the clock on its own. */
  async function untilLogged(message: string, timeout = PATIENT.timeout): Promise<void> {
    const line = new RegExp(`"tier":"ingest".*${message}`);
    await expect.poll(() => service?.log(), { ...PATIENT, timeout }).toMatch(line);
  }

  async function stored(): Promise<Stored[]> {
    const response = await fetch(`${service?.api_url}/clicks?limit=500&bots=include`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { clicks: Stored[] }).clicks;
  }

  /**
   * Expects that every redirected click is stored once, at the time when it was made, and in the report of this hour.
   *
   * @param lateMs how late a time may be
   */
  async function expectRightTimes(lateMs = TOLERANCE_MS): Promise<void> {
    const expected = made.flatMap(({ visitors }) => visitors).sort();
    const isRight = ({ ts, visitor_id }: Stored) =>
      made.some(
        ({ visitors, from, to }) =>
          visitors.includes(visitor_id) &&
          Date.parse(ts) >= from - TOLERANCE_MS &&
          Date.parse(ts) <= to + lateMs,
      );
    const visitors = (clicks: Stored[]) => clicks.map(({ visitor_id }) => visitor_id).sort();
    await expect
      .poll(async () => {
        const clicks = await stored();
        return { all: visitors(clicks), right: visitors(clicks.filter(isRight)) };
      }, PATIENT)
      .toEqual({ all: expected, right: expected });
    expect(new Set((await stored()).map(({ id }) => id)).size).toBe(expected.length);
    const response = await fetch(`${service?.api_url}/clicks/export?days=1&format=ndjson&bots=include`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect([response.status, (await response.text()).trim().split('\n').length]).toEqual([
      200,
      expected.length,
    ]);
  }

  /** A restart reads the marks of the streams, which are the same in both modes: that with Kafka restarts below. */
  async function expectRightAfterRestart(lateMs?: number): Promise<void> {
    if (mode === 'journal') {
      await restart();
      await click();
      await expectRightTimes(lateMs);
    }
    await expectClockMatches();
  }

  async function expectClockMatches(): Promise<void> {
    await expect
      .poll(async () => (await status()).clock, { ...PATIENT, ...EACH_SECOND })
      .toEqual({ ok: true, detail: 'streams match the clock' });
  }

  /** Returns what the operator's command reports about the clock. */
  async function status(): Promise<{ status: number | null; clock: { ok: boolean; detail: string } }> {
    const ended = await hoplog(['status', '--json'], operatorEnv());
    const { parts } = JSON.parse(ended.stdout) as { parts: { clock: { ok: boolean; detail: string } } };
    return { status: ended.status, clock: parts.clock };
  }

  function operatorEnv(): Record<string, string> {
    const { databaseUrl, clickhouseUrl } = storesOf(dataDir);
    const origin = new URL(service?.api_url ?? '').origin;
    return {
      DATABASE_URL: databaseUrl,
      CLICKHOUSE_URL: clickhouseUrl,
      SHORT_URL: service?.short_url ?? '',
      BASE_URL: origin,
      DATA_DIR: dataDir,
    };
  }

  test('ten years ahead for five seconds without a visitor: no time in a stream follows it', {
    timeout: SLOW_MS,
  }, async () => {
    await running();
    await click();
    clock.shift(TEN_YEARS);
    await untilLogged('the wall clock jumped ahead');
    await delay(5_000);
    clock.shift(0);
    await click();
    await expectRightTimes();
    await untilLogged('the wall clock is right again');
    await expectRightAfterRestart();
  });

  test('ahead for more than a minute: clicks made meanwhile get their right time once the clock is right', {
    timeout: SLOW_MS,
  }, async () => {
    await running();
    await click();
    clock.shift(TEN_YEARS);
    await click();
    await untilLogged('stayed ahead for a minute', 150_000);
    await click();
    await expect.poll(async () => (await stored()).some(({ ts }) => ts > '2030'), PATIENT).toBe(true);
    clock.shift(0);
    await untilLogged('event times were ahead and are right again');
    await click();
    await expectRightTimes();
    await expectRightAfterRestart();
  });

  test('a machine that boots hours ahead has right times as soon as its clock is set', {
    timeout: SLOW_MS,
  }, async () => {
    await running();
    await click();
    await stop();
    clock.shift(THREE_HOURS);
    await start();
    await click();
    clock.shift(0);
    await untilLogged('event times were ahead and are right again');
    await click();
    await expectRightTimes();
    await expectClockMatches();
  });

  test('"hoplog stream reset-clock" reports and corrects marks left by a wrong clock', {
    timeout: SLOW_MS,
  }, async () => {
    await running();
    await click();
    await stop();
    clock.shift(TEN_YEARS);
    await start();
    await click();
    await stop();
    clock.shift(0);
    await start();
    await click();
    const both = (detail: string) =>
      [/api-0 by 3153\d{5} s/, /ingest-0 by 3153\d{5} s/].map((one) => one.test(detail));
    await expect
      .poll(
        async () => {
          const { status: code, clock: found } = await status();
          return [code, found.ok, ...both(found.detail)];
        },
        { ...PATIENT, ...EACH_SECOND },
      )
      .toEqual([1, false, true, true]);
    await untilLogged('event times are ahead of the wall clock');
    const reset = await hoplog(['stream', 'reset-clock', '--json'], operatorEnv());
    expect(reset).toMatchObject({ status: 0 });
    expect((JSON.parse(reset.stdout) as { reset: string[] }).reset.sort()).toEqual(['api-0', 'ingest-0']);
    await click();
    await expectRightTimes(RESTART_MS);
    await expectRightAfterRestart(RESTART_MS);
  });
}
