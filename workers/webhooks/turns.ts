/**
 * Who may attempt a delivery now. Two pools keep the slow from the quick:
 *
 *   unknown ──four quick answers in a row──▶ fast      4, then 64 at a time, in the quick pool
 *      ▲                                      │
 *      └──a quick answer── slow ◀──an attempt takes a second──┘      8 at a time, in the slow pool
 *
 * An attempt that has taken a second goes over to the slow pool while it runs, so a receiver that answers nobody
 * holds places of the quick pool for a second at the longest. Within a pool webhooks take turns.
 */
export type Turns = {
  /**
   * Runs `work` when it is the webhook's turn. Where the webhook becomes slow meanwhile and many wait for it, `sentAway`
   * says what comes of it instead: the store is the place to wait for long.
   */
  run<T>(webhookId: string, work: () => Promise<T>, sentAway: () => T): Promise<T>;
  /** How many deliveries to hand over at once from the stream; none to a slow receiver: they are stored. */
  roomForNew(webhookId: string): number;
  /** How many stored deliveries to take into memory. */
  roomForStored(webhookId: string): number;
  inFlight(): number;
  waiting(): number;
};

type Pool = { size: number; active: number; ring: Receiver[] };
type Receiver = {
  id: string;
  /** Quick answers in a row; -1: the last attempt was slow. */
  quick: number;
  active: number;
  /** Each is told whether it may begin. */
  waiting: ((mayBegin: boolean) => void)[];
  isInRing: boolean;
};

export const TURNS = {
  slowAfterMs: 1_000,
  quickToTrust: 4,
  atATime: { unknown: 4, fast: 64, slow: 8 },
  newWaiting: { unknown: 100, fast: 1_000, slow: 0 },
  storedWaiting: { unknown: 32, fast: 256, slow: 8 },
  poolSize: 512,
  allWaiting: 8_192,
  remembered: 20_000,
} as const;

export function createTurns(): Turns {
  const receivers = new Map<string, Receiver>();
  const quick: Pool = { size: TURNS.poolSize, active: 0, ring: [] };
  const slow: Pool = { size: TURNS.poolSize, active: 0, ring: [] };
  let waiting = 0;

  function receiverOf(id: string): Receiver {
    const known = receivers.get(id);
    if (known) return known;
    const receiver: Receiver = { id, quick: 0, active: 0, waiting: [], isInRing: false };
    receivers.set(id, receiver);
    return receiver;
  }

  function paceOf({ quick: row }: Pick<Receiver, 'quick'>): 'unknown' | 'fast' | 'slow' {
    if (row < 0) return 'slow';
    return row >= TURNS.quickToTrust ? 'fast' : 'unknown';
  }

  const poolOf = (receiver: Receiver) => (receiver.quick < 0 ? slow : quick);

  function queue(receiver: Receiver): void {
    if (receiver.isInRing || receiver.waiting.length === 0) return;
    if (receiver.active >= TURNS.atATime[paceOf(receiver)]) return;
    receiver.isInRing = true;
    poolOf(receiver).ring.push(receiver);
  }

  function pump(pool: Pool): void {
    while (pool.active < pool.size) {
      const receiver = pool.ring.shift();
      if (!receiver) return;
      receiver.isInRing = false;
      // It may have become slow, or quick, while it stood here.
      if (poolOf(receiver) === pool && receiver.active < TURNS.atATime[paceOf(receiver)]) {
        receiver.waiting.shift()?.(true);
      }
      queue(receiver);
    }
  }

  function pumpBoth(): void {
    pump(quick);
    pump(slow);
  }

  /** Takes a place for an attempt. @returns how to give it back */
  function enter(receiver: Receiver): () => void {
    let pool = poolOf(receiver);
    let isSlow = false;
    pool.active += 1;
    receiver.active += 1;
    const late = setTimeout(() => {
      isSlow = true;
      receiver.quick = -1;
      pool.active -= 1;
      pool = slow;
      pool.active += 1;
      for (const send of receiver.waiting.splice(TURNS.storedWaiting.slow)) send(false);
      pumpBoth();
    }, TURNS.slowAfterMs);
    return () => {
      clearTimeout(late);
      pool.active -= 1;
      receiver.active -= 1;
      if (!isSlow) receiver.quick += 1;
      queue(receiver);
      if (receivers.size > TURNS.remembered && receiver.active === 0 && receiver.waiting.length === 0) {
        receivers.delete(receiver.id);
      }
      pumpBoth();
    };
  }

  function room(webhookId: string, limits: Record<'unknown' | 'fast' | 'slow', number>): number {
    const receiver = receivers.get(webhookId) ?? { quick: 0, waiting: [] };
    const own = limits[paceOf(receiver)] - receiver.waiting.length;
    return Math.max(0, Math.min(own, TURNS.allWaiting - waiting));
  }

  return {
    async run(webhookId, work, sentAway) {
      const receiver = receiverOf(webhookId);
      waiting += 1;
      const leave = await new Promise<(() => void) | null>((resolve) => {
        receiver.waiting.push((mayBegin) => {
          waiting -= 1;
          resolve(mayBegin ? enter(receiver) : null);
        });
        queue(receiver);
        pump(poolOf(receiver));
      });
      if (!leave) return sentAway();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    roomForNew: (webhookId) => room(webhookId, TURNS.newWaiting),
    roomForStored: (webhookId) => room(webhookId, TURNS.storedWaiting),
    inFlight: () => quick.active + slow.active,
    waiting: () => waiting,
  };
}
