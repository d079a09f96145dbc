/**
 * Limits concurrent attempts, and isolates slow endpoints in a pool of their own:
 *
 *   unknown ──four quick responses in a row─▶ fast      4, then 64 at a time, in the quick pool
 *      ▲                                      │
 *      └──a quick response─ slow ◀──an attempt takes a second──┘      8 at a time, in the slow pool
 *
 * An attempt that takes a second moves to the slow pool while it runs, so an endpoint that never responds occupies the quick pool
 * for at most a second. Within a pool webhooks are served round robin, and a workspace has at most a quarter of the slow
 * pool. Deliveries that wait for slow endpoints do not reduce the room for quick ones.
 */
export type ConcurrencyLimit = {
  /**
   * Runs `work` when the limit allows. Where the webhook becomes slow meanwhile and many wait for it, returns `defer()`
   * instead: long waits belong in PostgreSQL.
   */
  run<T>(webhook: Hook, work: () => Promise<T>, defer: () => T): Promise<T>;
  /** How many new deliveries of the stream may wait in memory; none for a slow endpoint: they are stored. */
  roomForNew(webhook: Hook): number;
  /**
   * Divides the room for stored deliveries: the function returns how many of a webhook, up to `most`, to take into memory, and
   * counts them for the next call.
   */
  roomForStored(): (webhook: Hook, most: number) => number;
  inFlight(): number;
  waiting(): number;
};

/** A receiver: what shares places. */
export type Hook = { id: string; workspaceId: string };
type Pool = { size: number; active: number; ring: Receiver[] };
type Receiver = {
  id: string;
  workspaceId: string;
  /** Quick responses in a row; -1: the last attempt was slow. */
  quick: number;
  active: number;
  /** Called with whether the delivery may begin. */
  waiting: ((mayBegin: boolean) => void)[];
  /** In a pool's ring, or held. */
  isInRing: boolean;
};
/** A workspace's part of the slow pool. `held`: receivers that wait because the part is used up. */
type Share = { active: number; held: Receiver[] };
/** Deliveries in memory that wait, for quick receivers, for slow ones, and for the slow ones of a workspace. */
type Waiting = { quick: number; slow: number; slowOf: Map<string, number> };

export const CONCURRENCY = {
  slowAfterMs: 1_000,
  quickToTrust: 4,
  atATime: { unknown: 4, fast: 64, slow: 8 },
  newWaiting: { unknown: 100, fast: 1_000, slow: 0 },
  storedWaiting: { unknown: 32, fast: 256, slow: 8 },
  poolSize: 512,
  /** Limit of one workspace in the slow pool. */
  slowOfWorkspace: 128,
  /** Of slow endpoints two for each place: with attempts of 20 s the last one begins while its claim holds. */
  waiting: { quick: 8_192, slow: 1_024, slowOfWorkspace: 256 },
  knownReceivers: 20_000,
} as const;

export function createConcurrencyLimit(): ConcurrencyLimit {
  const receivers = new Map<string, Receiver>();
  const shares = new Map<string, Share>();
  const quick: Pool = { size: CONCURRENCY.poolSize, active: 0, ring: [] };
  const slow: Pool = { size: CONCURRENCY.poolSize, active: 0, ring: [] };
  const waiting: Waiting = { quick: 0, slow: 0, slowOf: new Map() };
  let inFlight = 0;

  function receiverOf({ id, workspaceId }: Hook): Receiver {
    const known = receivers.get(id);
    if (known) return known;
    const receiver: Receiver = { id, workspaceId, quick: 0, active: 0, waiting: [], isInRing: false };
    receivers.set(id, receiver);
    return receiver;
  }

  function shareOf(workspaceId: string): Share {
    const known = shares.get(workspaceId);
    if (known) return known;
    const share: Share = { active: 0, held: [] };
    shares.set(workspaceId, share);
    return share;
  }

  function paceOf({ quick: row }: Pick<Receiver, 'quick'>): 'unknown' | 'fast' | 'slow' {
    if (row < 0) return 'slow';
    return row >= CONCURRENCY.quickToTrust ? 'fast' : 'unknown';
  }

  const poolOf = (receiver: Receiver) => (receiver.quick < 0 ? slow : quick);

  function setQuick(receiver: Receiver, row: number): void {
    count(waiting, receiver, -receiver.waiting.length);
    receiver.quick = row;
    count(waiting, receiver, receiver.waiting.length);
  }

  function queue(receiver: Receiver): void {
    if (receiver.isInRing || receiver.waiting.length === 0) return;
    if (receiver.active >= CONCURRENCY.atATime[paceOf(receiver)]) return;
    receiver.isInRing = true;
    poolOf(receiver).ring.push(receiver);
  }

  function pump(pool: Pool): void {
    while (pool.active < pool.size) {
      const receiver = pool.ring.shift();
      if (!receiver) return;
      // It may have become slow, or quick, while it waited.
      const isHere = poolOf(receiver) === pool;
      const share = isHere && pool === slow ? shares.get(receiver.workspaceId) : undefined;
      if (share && share.active >= CONCURRENCY.slowOfWorkspace) {
        share.held.push(receiver);
        continue;
      }
      receiver.isInRing = false;
      if (isHere && receiver.active < CONCURRENCY.atATime[paceOf(receiver)]) receiver.waiting.shift()?.(true);
      queue(receiver);
    }
  }

  function pumpBoth(): void {
    pump(slow);
    pump(quick);
    pump(slow); // those that the quick pool found to be slow
  }

  /** Enters the slow pool. Running attempts that exceed the part of their workspace use no slot of others. */
  function enterSlow({ workspaceId }: Receiver): void {
    const share = shareOf(workspaceId);
    share.active += 1;
    if (share.active <= CONCURRENCY.slowOfWorkspace) slow.active += 1;
  }

  function leaveSlow({ workspaceId }: Receiver): void {
    const share = shareOf(workspaceId);
    share.active -= 1;
    if (share.active < CONCURRENCY.slowOfWorkspace) slow.active -= 1;
    slow.ring.push(...share.held.splice(0));
    if (share.active === 0) shares.delete(workspaceId);
  }

  /** Enters a pool for an attempt. @returns the function that leaves it */
  function enter(receiver: Receiver): () => void {
    let isInSlow = poolOf(receiver) === slow;
    let isSlow = false;
    if (isInSlow) enterSlow(receiver);
    else quick.active += 1;
    receiver.active += 1;
    inFlight += 1;
    const late = setTimeout(() => {
      isSlow = true;
      if (!isInSlow) {
        quick.active -= 1;
        enterSlow(receiver);
        isInSlow = true;
      }
      setQuick(receiver, -1);
      const room = roomIn(waiting, receiver) + receiver.waiting.length;
      const allowed = Math.max(0, Math.min(CONCURRENCY.storedWaiting.slow, room));
      for (const send of receiver.waiting.splice(allowed)) send(false);
      pumpBoth();
    }, CONCURRENCY.slowAfterMs);
    return () => {
      clearTimeout(late);
      if (isInSlow) leaveSlow(receiver);
      else quick.active -= 1;
      receiver.active -= 1;
      inFlight -= 1;
      if (!isSlow) setQuick(receiver, receiver.quick + 1);
      queue(receiver);
      if (
        receivers.size > CONCURRENCY.knownReceivers &&
        receiver.active === 0 &&
        receiver.waiting.length === 0
      ) {
        receivers.delete(receiver.id);
      }
      pumpBoth();
    };
  }

  /** @param expected deliveries that wait, and those already promised room */
  function room(
    expected: Waiting,
    webhook: Hook,
    limits: Record<'unknown' | 'fast' | 'slow', number>,
  ): number {
    const receiver = receivers.get(webhook.id) ?? { workspaceId: webhook.workspaceId, quick: 0, waiting: [] };
    const own = limits[paceOf(receiver)] - receiver.waiting.length;
    return Math.max(0, Math.min(own, roomIn(expected, receiver)));
  }

  return {
    async run(webhook, work, defer) {
      const receiver = receiverOf(webhook);
      count(waiting, receiver, 1);
      const leave = await new Promise<(() => void) | null>((resolve) => {
        receiver.waiting.push((mayBegin) => {
          count(waiting, receiver, -1);
          resolve(mayBegin ? enter(receiver) : null);
        });
        queue(receiver);
        pump(poolOf(receiver));
      });
      if (!leave) return defer();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    roomForNew: (webhook) => room(waiting, webhook, CONCURRENCY.newWaiting),
    roomForStored() {
      const then = { ...waiting, slowOf: new Map(waiting.slowOf) };
      return (webhook, most) => {
        const given = Math.min(most, room(then, webhook, CONCURRENCY.storedWaiting));
        count(then, receivers.get(webhook.id) ?? { workspaceId: webhook.workspaceId, quick: 0 }, given);
        return given;
      };
    },
    inFlight: () => inFlight,
    waiting: () => waiting.quick + waiting.slow,
  };
}

type Paced = Pick<Receiver, 'workspaceId' | 'quick'>;

/** Changes the number of deliveries that wait for a receiver. */
function count(waiting: Waiting, { workspaceId, quick }: Paced, change: number): void {
  if (quick >= 0) {
    waiting.quick += change;
    return;
  }
  waiting.slow += change;
  const ofWorkspace = (waiting.slowOf.get(workspaceId) ?? 0) + change;
  if (ofWorkspace === 0) waiting.slowOf.delete(workspaceId);
  else waiting.slowOf.set(workspaceId, ofWorkspace);
}

/** Returns how many more may wait for receivers of this pace, and of this workspace where it is slow. Negative: too many wait. */
function roomIn(waiting: Waiting, { workspaceId, quick }: Paced): number {
  if (quick >= 0) return CONCURRENCY.waiting.quick - waiting.quick;
  const ofWorkspace = CONCURRENCY.waiting.slowOfWorkspace - (waiting.slowOf.get(workspaceId) ?? 0);
  return Math.min(CONCURRENCY.waiting.slow - waiting.slow, ofWorkspace);
}
