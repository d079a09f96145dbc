import { Violation } from '../history.ts';
import type { Arrival } from './receivers.ts';
import { RESPONSE_MS } from './send.ts';
import { DAY } from './steps.ts';

/** What is known of one delivery: of an event to a webhook. */
type Known = { id: string; body: string; arrivals: Arrival[] };
/** A delivery as PostgreSQL has it. */
export type DeliveryRow = { url: string; event_id: string; status: string; attempts: number };
/** A webhook as PostgreSQL has it. */
export type HookRow = { url: string; is_active: boolean; disabled_at: Date | null };

const MINUTE = 60_000;
/** As the guide of webhooks promises. Milliseconds. */
const RETRY_WAITS = [5_000, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 300 * MINUTE, 600 * MINUTE, 600 * MINUTE];
/** Attempts of a delivery at most: the first, and one after each wait. */
const MOST_ATTEMPTS = RETRY_WAITS.length + 1;
const DISABLE_AFTER = { ms: 5 * DAY, days: 5 };
/** Time within which the outcome of an attempt is written. Milliseconds of the monotonic clock, as those below. */
const WRITTEN_WITHIN_MS = 1_500;
/** Longest time from a claim to its request: as long as the claim while attempts wait for a slow receiver. */
const CLAIMED_WITHIN_MS = { quick: 3_000, slow: 90_000 };
/** No attempt begins so long after a webhook was switched off: the longest claim. Milliseconds. */
const OFF_WITHIN_MS = 95_000;

const isAccepted = ({ status, heardAt }: Arrival) => status === 200 && heardAt !== null;

/** What was promised, and what came: it finds what breaks an invariant. */
export class WebhookLedger {
  /** The first invariant that broke. */
  violation: Violation | null = null;
  clicks = 0;
  events = 0;
  readonly #isDisturbed: boolean;
  readonly #losesRequests: boolean;
  /** Webhooks that must get an event, by its name. */
  readonly #wanted = new Map<string, Set<number>>();
  readonly #known = new Map<string, Known>();
  readonly #nameOfId = new Map<string, string>();
  readonly #sleeps: number[] = [];
  readonly #offSince = new Map<number, number>();
  readonly #seen = new Map<string, DeliveryRow>();
  /** Webhooks that were off once, and those that were switched on again. */
  readonly #wasOff = new Set<number>();
  readonly #wasSwitched = new Set<number>();

  /** @param given.isDisturbed whether faults may repeat a delivery, or move its time */
  constructor(given: { isDisturbed: boolean; losesRequests: boolean }) {
    this.#isDisturbed = given.isDisturbed;
    this.#losesRequests = given.losesRequests;
  }

  /** Returns the number of the next click, as the log's writer asks: from 1, since a click of link 0 led to no link. */
  next(): number {
    return ++this.clicks;
  }

  /** A click is in the log: a writer says so. */
  answered({ number }: { number: number }): void {
    this.#want(`c${number}`);
  }

  /** An event is committed. */
  committed(number: number): void {
    this.#want(`e${number}`);
  }

  hooksOn: ReadonlySet<number> = new Set();
  /** What a standby has: events that it must deliver, and which webhooks are on. */
  #kept: { names: Set<string>; hooksOn: ReadonlySet<number> } | null = null;

  /** A standby of PostgreSQL gets nothing from here on. */
  keep(): void {
    this.#kept = { names: new Set(this.#wanted.keys()), hooksOn: this.hooksOn };
  }

  /** PostgreSQL is as it was: events since then may be lost, but no click, which is in the log. */
  wentBack(): void {
    if (!this.#kept) return;
    const { names, hooksOn } = this.#kept;
    for (const name of this.#wanted.keys())
      if (name.startsWith('e') && !names.has(name)) this.#wanted.delete(name);
    for (const hook of hooksOn) this.#offSince.delete(hook);
    for (const hook of [...hooksOn, ...this.hooksOn]) this.#wasSwitched.add(hook);
    this.hooksOn = hooksOn;
    this.#seen.clear();
  }

  #want(name: string): void {
    this.#wanted.set(name, new Set(this.hooksOn));
  }

  /** The machines sleep. @param moment of the monotonic clock */
  slept(moment: number): void {
    this.#sleeps.push(moment);
  }

  /** A webhook gets switched off, or on: what it was to get until now may not come. */
  switched(hook: number, isOn: boolean, at: number): void {
    for (const hooks of this.#wanted.values()) hooks.delete(hook);
    const on = new Set(this.hooksOn);
    if (isOn) on.add(hook);
    else on.delete(hook);
    this.hooksOn = on;
    if (isOn) this.#wasSwitched.add(hook);
    else this.#wasOff.add(hook);
    if (isOn) this.#offSince.delete(hook);
    else this.#offSince.set(hook, at);
  }

  arrived(arrival: Arrival): void {
    const { hook, id, body, at } = arrival;
    const events = eventsIn(body);
    const name = events.join('+');
    const offSince = this.#offSince.get(hook);
    if (offSince !== undefined && at > offSince + OFF_WITHIN_MS)
      this.#break('a webhook that is off gets nothing', `webhook ${hook} got ${name}`);
    const ofId = `${hook} ${id}`;
    const before = this.#nameOfId.get(ofId);
    if (before !== undefined && before !== name)
      this.#break('every delivery has one id', `${id} is ${before} and ${name}`);
    this.#nameOfId.set(ofId, name);
    const keys = new Set([name, ...events].map((one) => `${hook} ${one}`));
    for (const key of keys) {
      const known = this.#known.get(key);
      if (known && known.id !== id)
        this.#break('every event is in one delivery', `${key} came as ${known.id} and ${id}`);
    }
    const known = this.#known.get(`${hook} ${name}`);
    if (!known) {
      const first: Known = { id, body, arrivals: [arrival] };
      for (const key of keys) this.#known.set(key, first);
      return;
    }
    if (known.body !== body) this.#break('every attempt sends the same bytes', `${name} to webhook ${hook}`);
    if (!this.#isDisturbed) this.#checkRepeat(name, known.arrivals, arrival);
    known.arrivals.push(arrival);
  }

  /** Without faults a delivery that was accepted does not come again, and others come at their times. */
  #checkRepeat(name: string, arrivals: readonly Arrival[], { hook, at }: Arrival): void {
    const last = arrivals.at(-1);
    if (!last || this.#sleepsDuring(last)) return;
    if (isAccepted(last)) {
      this.#break('without a fault a delivery comes once', `${name} came again to webhook ${hook}`);
      return;
    }
    if (last.heardAt === null && at < last.at + RESPONSE_MS) {
      this.#break('a delivery has one attempt at a time', `${name} came to webhook ${hook} during one`);
      return;
    }
    const wait = RETRY_WAITS[arrivals.length - 1];
    if (wait === undefined) {
      this.#break(`a delivery has ${MOST_ATTEMPTS} attempts`, `${name} came to webhook ${hook} once more`);
      return;
    }
    const asked = last.status === 429 || last.status === 503 ? Number(last.retryAfter ?? 0) * 1_000 : 0;
    const waited = at - (last.heardAt ?? last.at);
    // Times of the database are whole milliseconds.
    if (waited < Math.max(wait, asked) - 2)
      this.#break(
        'the waits between attempts are as documented',
        `${name} came to webhook ${hook} ${Math.round(waited)} ms after attempt ${arrivals.length}`,
      );
  }

  /** Whether the machines slept between the claim and its outcome: the claim has ended then. */
  #sleepsDuring({ began, waits, heardAfter }: Arrival): boolean {
    const from = began - CLAIMED_WITHIN_MS[waits ? 'slow' : 'quick'];
    const until = began + (heardAfter ?? RESPONSE_MS) + WRITTEN_WITHIN_MS;
    return this.#sleeps.some((slept) => slept >= from && slept <= until);
  }

  /** Looks at what PostgreSQL has. */
  look(rows: readonly DeliveryRow[], hooks: readonly HookRow[], now: number): void {
    // First: deliveries to a webhook that is off fail at once.
    for (const { url, is_active, disabled_at } of hooks) {
      const hook = hookOf(url);
      if (is_active || !this.hooksOn.has(hook)) continue;
      this.#checkDisabled(hook, disabled_at?.getTime() ?? 0);
      this.switched(hook, false, now);
    }
    for (const row of rows) this.#lookAt(row);
  }

  #lookAt(row: DeliveryRow): void {
    const { url, event_id: id, status, attempts } = row;
    const hook = hookOf(url);
    const key = `${hook} ${id}`;
    const before = this.#seen.get(key);
    this.#seen.set(key, row);
    if (before?.status === status && before.attempts === attempts) return;
    const name = this.#nameOfId.get(key);
    const arrivals = name === undefined ? [] : (this.#known.get(`${hook} ${name}`)?.arrivals ?? []);
    if (before?.status === 'delivered' && status !== 'delivered')
      this.#break('what is delivered stays so', `${name ?? id} to webhook ${hook} became ${status}`);
    if (before && attempts < before.attempts)
      this.#break('an attempt is never forgotten', `${name ?? id} had ${before.attempts}, now ${attempts}`);
    if (status === 'delivered' && !arrivals.some(isAccepted))
      this.#break('only what was accepted is delivered', `${name ?? id} to webhook ${hook}`);
    if (!this.#losesRequests && attempts > arrivals.length)
      this.#break(
        'only attempts are counted',
        `${name ?? id} to webhook ${hook} came ${arrivals.length} times, counted ${attempts}`,
      );
    const isFinal = arrivals.some((arrival) => arrival.status === 410);
    const isOver = status === 'failed' && this.hooksOn.has(hook) && !isFinal;
    if (isOver && attempts < MOST_ATTEMPTS && this.#mayNotBeOff(hook))
      this.#break(
        `a delivery fails after ${MOST_ATTEMPTS} attempts`,
        `${name ?? id} to webhook ${hook} after ${attempts}`,
      );
  }

  /** Whether a webhook was never off: deliveries to one that is off fail at once. */
  #mayNotBeOff(hook: number): boolean {
    return [...this.#wanted.values()].some((hooks) => hooks.has(hook)) && !this.#wasOff.has(hook);
  }

  #checkDisabled(hook: number, at: number): void {
    const all = [...this.#known.entries()]
      .filter(([key]) => key.startsWith(`${hook} `))
      .flatMap(([, { arrivals }]) => arrivals);
    if (all.some(({ status }) => status === 410)) return;
    const lastSuccess = this.#isDisturbed
      ? Number.NEGATIVE_INFINITY
      : Math.max(...all.filter(isAccepted).map((arrival) => arrival.at), Number.NEGATIVE_INFINITY);
    const failures = all.filter((arrival) => !isAccepted(arrival) && arrival.at > lastSuccess);
    const first = Math.min(...failures.map((arrival) => arrival.at));
    const days = new Set(failures.map((arrival) => Math.floor(arrival.at / DAY)));
    if (at - first >= DISABLE_AFTER.ms - 1_000 && days.size >= DISABLE_AFTER.days) return;
    this.#break(
      'a webhook is disabled after five days of failures, or a 410',
      `webhook ${hook} after ${((at - first) / DAY).toFixed(2)} days, with failures on ${days.size} of them`,
    );
  }

  /** @throws {Violation} when a webhook whose receiver is gone is on at the end */
  checkGone(): void {
    if (this.#isDisturbed) return;
    for (const { arrivals } of this.#known.values()) {
      const gone = arrivals.find(({ status, heardAt }) => status === 410 && heardAt !== null);
      if (!gone || !this.hooksOn.has(gone.hook) || this.#wasSwitched.has(gone.hook)) continue;
      throw new Violation('a webhook whose receiver is gone is disabled', `webhook ${gone.hook}`);
    }
  }

  /** What must still come; null: nothing. */
  missing(): string | null {
    for (const [name, hooks] of this.#wanted) {
      for (const hook of hooks) {
        const arrivals = this.#known.get(`${hook} ${name}`)?.arrivals ?? [];
        if (arrivals.some(isAccepted)) continue;
        const id = this.#known.get(`${hook} ${name}`)?.id;
        const row = id === undefined ? undefined : this.#seen.get(`${hook} ${id}`);
        if (row?.status === 'failed' && row.attempts >= MOST_ATTEMPTS) continue;
        return `${name} to webhook ${hook}`;
      }
    }
    return null;
  }

  #break(invariant: string, values: string): void {
    this.violation ??= new Violation(invariant, values);
  }
}

/** The number in a receiver's URL. */
const hookOf = (url: string) => Number(/receiver-(\d+)/.exec(url)?.[1]);

/** Returns the events of a delivery: a batch has several clicks. */
function eventsIn(body: string): string[] {
  type Data = { id: unknown; link_id?: string };
  const { type, data } = JSON.parse(body) as { type: string; data: Data | Data[] };
  return [data]
    .flat()
    .map(({ id, link_id }) =>
      type.startsWith('click.created') ? `c${Number.parseInt(link_id?.slice(-8) ?? '', 16)}` : `e${id}`,
    );
}
