import { readFileSync, writeFileSync } from 'node:fs';
import { machineNow as now } from '../harness/clock.ts';
import { quantile } from '../harness/statistics.ts';
import { type Answer, type Connection, openConnection } from './connection.ts';
import type { LoadPlan, LoadResult } from './plan.ts';

/**
 * Process of the load generator: `node bench/load/drive.ts PLAN`, a file with a {@link LoadPlan} as JSON. It prints a
 * {@link LoadResult} as JSON.
 *
 * At a fixed rate, request k is due k / rate seconds after the start. Latency counts from then, even while the request
 * waits for a free connection, to avoid coordinated omission.
 */

const plan = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as LoadPlan;
const { rate, seconds } = plan;
/** Minimum number of prepared requests. */
const READY = 4_096;
/** Longest wait for responses at the end. */
const LAST_ANSWERS_MS = 5_000;
/** Longer gaps between ticks mean that other processes used the core. */
const PAUSE_MS = 1;
/** Number of failed requests after which the run stops. */
const MOST_FAILED = 1_000;

const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T;
const requestOf = (slug: string): string => `GET /${slug} HTTP/1.1\r\n${pick(plan.heads)}\r\n\r\n`;
const ready = Array.from({ length: Math.max(READY, plan.hot.length) }, (_, n) =>
  requestOf(plan.hot[n % plan.hot.length] ?? ''),
);

/** Latencies in memory that the garbage collector does not scan. */
let latencies = new Float64Array(1 << 20);
let answered = 0;
let total = 0;
let failed = 0;
const lateness: number[] = [];
/** Total pauses of this process, milliseconds. */
let paused = 0;
const visitors: string[] = [];

function note(latency: number): void {
  if (answered === latencies.length) {
    const longer = new Float64Array(latencies.length * 2);
    longer.set(latencies);
    latencies = longer;
  }
  latencies[answered++] = latency;
}

/** `asks`: a request is in flight. */
type Slot = { connection: Connection | null; dueAt: number; asks: boolean };
const free: Slot[] = [];
/** Time at which `free` last became non-empty. */
let freeSince = 0;
/** Start of the load and of the measurement, monotonic clock, milliseconds. */
let started = 0;
let began = 0;
let sent = 0;
let done: () => void = () => undefined;
const finished = new Promise<void>((resolve) => {
  done = resolve;
});
let underWay = 0;
let over = false;

function nextRequest(): string {
  if (plan.coldShare > 0 && Math.random() < plan.coldShare) return requestOf(pick(plan.cold));
  return ready[sent % ready.length] as string;
}

function send(slot: Slot, dueAt: number): void {
  slot.dueAt = dueAt;
  slot.asks = true;
  underWay += 1;
  const request = nextRequest();
  sent += 1;
  slot.connection?.send(request);
}

function take(slot: Slot, answer: Answer): void {
  const at = now();
  slot.asks = false;
  underWay -= 1;
  if (answer.status === 302) {
    total += 1;
    if (slot.dueAt >= began) note(at - slot.dueAt);
    if (plan.visitorsFile !== undefined) noteVisitor(answer, at);
  } else {
    failed += 1;
  }
  if (rate === null && !over) send(slot, at);
  else release(slot, at);
  if (over && underWay === 0) done();
}

function release(slot: Slot, at: number): void {
  if (free.length === 0) freeSince = at;
  free.push(slot);
}

/** Reads the location `https://…/<slug>?…&_vid=<visitor>&…`. */
function noteVisitor({ bytes, length }: Answer, at: number): void {
  const text = bytes.toString('latin1', 0, length);
  const visitor = /[?&]_vid=([0-9a-f-]{36})/.exec(text)?.[1] ?? '';
  const slug = /\r\nLocation: https?:\/\/[^/]+\/([^?\r]*)/i.exec(text)?.[1] ?? '';
  visitors.push(`${visitor} ${at} ${slug}`);
}

async function open(slot: Slot): Promise<void> {
  slot.connection = await openConnection(
    plan.port,
    (answer) => take(slot, answer),
    () => {
      if (over) return;
      if (slot.asks) {
        // The request in flight is lost; its visitor uses a new connection.
        slot.asks = false;
        failed += 1;
        underWay -= 1;
      } else {
        // Closed after the idle timeout. If it is not in `free`, it is already being reopened.
        const place = free.indexOf(slot);
        if (place < 0) return;
        free.splice(place, 1);
      }
      void open(slot).then(() => release(slot, now()));
    },
  );
}

let looked = 0;

/** Sends the due requests on free connections. */
function tick(): void {
  const at = now();
  if (looked > began && at - looked > PAUSE_MS) paused += at - looked;
  looked = at;
  if (at - began >= seconds * 1_000 || failed > MOST_FAILED) {
    over = true;
    if (underWay === 0) done();
    return;
  }
  if (rate === null) {
    // Reopened connections.
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) send(slot, at);
    setTimeout(tick, 5);
    return;
  }
  const due = Math.floor(((at - started) / 1_000) * rate);
  while (sent < due) {
    const slot = free.pop();
    if (slot === undefined) break;
    const dueAt = started + (sent / rate) * 1_000;
    if ((sent & 63) === 0 && dueAt >= began) lateness.push(at - Math.max(dueAt, freeSince));
    send(slot, dueAt);
  }
  if (plan.sharesCore) setTimeout(tick, 1);
  else setImmediate(tick);
}

const slots = Array.from(
  { length: plan.connections },
  (): Slot => ({ connection: null, dueAt: 0, asks: false }),
);
await Promise.all(slots.map(open));
free.push(...slots);
started = now();
began = started + plan.warmUpSeconds * 1_000;
let cpu = process.cpuUsage();
setTimeout(() => {
  cpu = process.cpuUsage();
}, plan.warmUpSeconds * 1_000);
tick();
await Promise.race([
  finished,
  new Promise((resolve) => setTimeout(resolve, (plan.warmUpSeconds + seconds) * 1_000 + LAST_ANSWERS_MS)),
]);
over = true;
const took = Math.max((now() - began) / 1_000, Number.EPSILON);
const { user, system } = process.cpuUsage(cpu);
const sorted = latencies.subarray(0, answered).sort();
const result: LoadResult = {
  seconds: took,
  answered,
  total,
  failed: failed + underWay,
  perSecond: answered / took,
  p50: quantile(sorted, 0.5),
  p99: quantile(sorted, 0.99),
  p999: quantile(sorted, 0.999),
  max: quantile(sorted, 1),
  lateness: quantile(
    lateness.sort((a, b) => a - b),
    0.99,
  ),
  paused: rate === null || plan.sharesCore ? 0 : paused / 1_000 / took,
  cpu: (user + system) / 1e6,
};
if (plan.visitorsFile !== undefined) writeFileSync(plan.visitorsFile, visitors.join('\n'));
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(0);
