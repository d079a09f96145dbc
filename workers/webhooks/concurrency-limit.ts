/**
 * Limits concurrent attempts, and isolates slow hooks in a pool of their own:
 *
 *   unknown ──four quick responses in a row─▶ fast      4, then 64 at a time for a host, in the quick pool
 *      ▲                                      │
 *      └──a quick response─ slow ◀──an attempt takes a second──┘      8 at a time for a host, in the slow pool
 *
 * All hooks of a workspace at one host share its places. A slow hook leaves the places of the quick ones: the slow
 * hooks of a host have equal parts of its eight slow places, each at least one. An attempt that takes a second moves to
 * the slow pool while it runs, so a hook that never responds occupies the quick pool, and its host's places, for at
 * most a second. Within a pool receivers are served round robin, and a workspace has at most a quarter of the slow
 * pool, beside one attempt of each slow hook. Deliveries that wait for slow hooks do not reduce the room for quick
 * ones.
 */
export type ConcurrencyLimit = {
  /**
   * Runs `work` when the limit allows. If the webhook becomes slow meanwhile and many deliveries wait for it, returns
   * `defer()` instead: long waits belong in PostgreSQL.
   */
  run<T>(webhook: Hook, work: () => Promise<T>, defer: () => T): Promise<T>;
  /** How many new deliveries of the stream may wait in memory; none for a slow endpoint: they are stored. */
  roomForNew(webhook: Hook): number;
  /**
   * Divides the room for queued deliveries: the function returns how many of a webhook, up to `most`, to take into
   * memory, and counts them for the next call.
   */
  roomForStored(): (webhook: Hook, most: number) => number;
  inFlight(): number;
  waiting(): number;
};

/** A target of calls. It shares the places of its host with the workspace's other hooks there. */
export type Hook = { id: string; host: string; workspaceId: string };
type Pool = { size: number; active: number; ring: Receiver[] };
type Host = {
  id: string;
  workspaceId: string;
  /** Quick responses in a row. */
  quick: number;
  /** Its slow hooks, by id. */
  slow: Map<string, Receiver>;
};
/** Holds places: of the quick hooks of a host, or of a slow hook. */
type Receiver = {
  host: Host;
  isSlow: boolean;
  running: Set<Running>;
  waiting: Waiter[];
  /** Whether it is in a pool's ring; otherwise it is held. */
  isInRing: boolean;
};
/** An attempt under way, at the receiver that has it now. */
type Running = { hookId: string; at: Receiver };
/** A delivery that waits. `begin` gets its receiver, or null when the delivery must be stored. */
type Waiter = { hookId: string; begin: (receiver: Receiver | null) => void };
/** A workspace's part of the slow pool. `held`: receivers that wait because the part is used up. */
type Share = { active: number; held: Receiver[] };
/** How many deliveries wait in memory: for quick receivers, for slow ones, and for the slow ones of each workspace. */
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
  /** Two for each place of slow endpoints: with attempts of 20 s the last one begins before its claim expires. */
  waiting: { quick: 8_192, slow: 1_024, slowOfWorkspace: 256 },
  knownReceivers: 20_000,
} as const;

export function createConcurrencyLimit(): ConcurrencyLimit {
  /** The quick hooks of each host. */
  const together = new Map<string, Receiver>();
  const shares = new Map<string, Share>();
  const quick: Pool = { size: CONCURRENCY.poolSize, active: 0, ring: [] };
  const slow: Pool = { size: CONCURRENCY.poolSize, active: 0, ring: [] };
  const waiting: Waiting = { quick: 0, slow: 0, slowOf: new Map() };
  let inFlight = 0;

  function quickOf(id: string, workspaceId: string): Receiver {
    const known = together.get(id);
    if (known) return known;
    const receiver = newReceiver({ id, workspaceId, quick: 0, slow: new Map() }, false);
    together.set(id, receiver);
    return receiver;
  }

  function shareOf(workspaceId: string): Share {
    const known = shares.get(workspaceId);
    if (known) return known;
    const share: Share = { active: 0, held: [] };
    shares.set(workspaceId, share);
    return share;
  }

  const poolOf = ({ isSlow }: Receiver) => (isSlow ? slow : quick);

  function push(receiver: Receiver, waiters: readonly Waiter[]): void {
    count(waiting, receiver, waiters.length);
    receiver.waiting.push(...waiters);
    queue(receiver);
  }

  function take(receiver: Receiver, from: number, most = Number.POSITIVE_INFINITY): Waiter[] {
    const taken = receiver.waiting.splice(from, most);
    count(waiting, receiver, -taken.length);
    return taken;
  }

  function queue(receiver: Receiver): void {
    if (receiver.isInRing || receiver.waiting.length === 0) return;
    if (receiver.running.size >= placesOf(receiver)) return;
    receiver.isInRing = true;
    poolOf(receiver).ring.push(receiver);
  }

  function pump(pool: Pool): void {
    while (pool.active < pool.size) {
      const receiver = pool.ring.shift();
      if (!receiver) return;
      const share = pool === slow ? shares.get(receiver.host.workspaceId) : undefined;
      // One attempt of each slow hook may always begin, so that hooks that never respond do not keep it slow.
      if (share && share.active >= CONCURRENCY.slowOfWorkspace && receiver.running.size > 0) {
        share.held.push(receiver);
        continue;
      }
      receiver.isInRing = false;
      if (receiver.running.size < placesOf(receiver)) {
        for (const { begin } of take(receiver, 0, 1)) begin(receiver);
      }
      queue(receiver);
    }
  }

  function pumpBoth(): void {
    pump(slow);
    pump(quick);
  }

  /** Enters the slow pool. Running attempts that exceed the part of their workspace use no slot of others. */
  function enterSlow({ host }: Receiver): void {
    const share = shareOf(host.workspaceId);
    share.active += 1;
    if (share.active <= CONCURRENCY.slowOfWorkspace) slow.active += 1;
  }

  function leaveSlow({ host }: Receiver): void {
    const share = shareOf(host.workspaceId);
    share.active -= 1;
    if (share.active < CONCURRENCY.slowOfWorkspace) slow.active -= 1;
    slow.ring.push(...share.held.splice(0));
    if (share.active === 0) shares.delete(host.workspaceId);
  }

  function occupy(one: Running): void {
    one.at.running.add(one);
    if (one.at.isSlow) enterSlow(one.at);
    else quick.active += 1;
  }

  function vacate(one: Running): void {
    one.at.running.delete(one);
    if (one.at.isSlow) leaveSlow(one.at);
    else quick.active -= 1;
  }

  function move(one: Running, to: Receiver): void {
    if (one.at === to) return;
    vacate(one);
    one.at = to;
    occupy(one);
  }

  /** Gives a hook places of its own, and moves its attempts and waiting deliveries there. */
  function becomeSlow(host: Host, hookId: string): Receiver {
    const known = host.slow.get(hookId);
    if (known) return known;
    const own = newReceiver(host, true);
    host.slow.set(hookId, own);
    host.quick = 0;
    const others = quickOf(host.id, host.workspaceId);
    for (const one of [...others.running]) if (one.hookId === hookId) move(one, own);
    const all = take(others, 0);
    push(
      others,
      all.filter((one) => one.hookId !== hookId),
    );
    push(
      own,
      all.filter((one) => one.hookId === hookId),
    );
    return own;
  }

  function storeExcess(own: Receiver): void {
    const room = roomIn(waiting, own) + own.waiting.length;
    const allowed = Math.max(0, Math.min(placesOf(own), room));
    for (const { begin } of take(own, allowed)) begin(null);
  }

  function becomeQuick(host: Host, hookId: string, own: Receiver): void {
    host.slow.delete(hookId);
    push(quickOf(host.id, host.workspaceId), take(own, 0));
  }

  /** Enters a pool for an attempt. @returns the function that leaves it */
  function enter(hookId: string, receiver: Receiver): () => void {
    const { host } = receiver;
    const one: Running = { hookId, at: receiver };
    let isSlow = false;
    occupy(one);
    inFlight += 1;
    const late = setTimeout(() => {
      isSlow = true;
      const own = becomeSlow(host, hookId);
      move(one, own);
      storeExcess(own);
      pumpBoth();
    }, CONCURRENCY.slowAfterMs);
    return () => {
      clearTimeout(late);
      vacate(one);
      inFlight -= 1;
      const own = host.slow.get(hookId);
      if (!isSlow && own) becomeQuick(host, hookId, own);
      else if (!isSlow) host.quick += 1;
      const all = [quickOf(host.id, host.workspaceId), ...host.slow.values()];
      for (const other of all) queue(other);
      if (together.size > CONCURRENCY.knownReceivers && !all.some(isBusy)) together.delete(host.id);
      pumpBoth();
    };
  }

  const receiverOf = ({ id, host }: Hook): Receiver | undefined => {
    const known = together.get(host);
    return known?.host.slow.get(id) ?? known;
  };

  /**
   * @param expected deliveries that wait, and those already promised room
   * @param own those of the receiver
   */
  function room(
    expected: Waiting,
    own: number,
    receiver: Receiver | undefined,
    limits: Record<'unknown' | 'fast' | 'slow', number>,
  ): number {
    const limit = limits[receiver ? paceOf(receiver) : 'unknown'];
    // A slow hook gets one for each of its places: the last one begins before its claim expires.
    const most = receiver?.isSlow ? Math.min(limit, placesOf(receiver)) : limit;
    return Math.max(0, Math.min(most - own, roomIn(expected, receiver)));
  }

  return {
    async run(hook, work, defer) {
      const ofHost = quickOf(hook.host, hook.workspaceId);
      const receiver = ofHost.host.slow.get(hook.id) ?? ofHost;
      const leave = await new Promise<(() => void) | null>((resolve) => {
        const begin = (mayBegin: Receiver | null) => resolve(mayBegin && enter(hook.id, mayBegin));
        push(receiver, [{ hookId: hook.id, begin }]);
        pump(poolOf(receiver));
      });
      if (!leave) return defer();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    roomForNew(hook) {
      const receiver = receiverOf(hook);
      return room(waiting, receiver?.waiting.length ?? 0, receiver, CONCURRENCY.newWaiting);
    },
    roomForStored() {
      const then = { ...waiting, slowOf: new Map(waiting.slowOf) };
      const promised = new Map<Receiver | string, number>();
      return (hook, most) => {
        const receiver = receiverOf(hook);
        const already = promised.get(receiver ?? hook.host) ?? receiver?.waiting.length ?? 0;
        const given = Math.min(most, room(then, already, receiver, CONCURRENCY.storedWaiting));
        promised.set(receiver ?? hook.host, already + given);
        count(then, receiver, given);
        return given;
      };
    },
    inFlight: () => inFlight,
    waiting: () => waiting.quick + waiting.slow,
  };
}

function newReceiver(host: Host, isSlow: boolean): Receiver {
  return { host, isSlow, running: new Set(), waiting: [], isInRing: false };
}

const isBusy = ({ running, waiting }: Receiver) => running.size + waiting.length > 0;

function paceOf({ isSlow, host }: Receiver): 'unknown' | 'fast' | 'slow' {
  if (isSlow) return 'slow';
  return host.quick >= CONCURRENCY.quickToTrust ? 'fast' : 'unknown';
}

/** How many attempts of a receiver may run at a time. */
function placesOf(receiver: Receiver): number {
  const places = CONCURRENCY.atATime[paceOf(receiver)];
  if (!receiver.isSlow) return places;
  const others = [...receiver.host.slow.values()].filter((one) => one !== receiver && isBusy(one)).length;
  return Math.max(1, Math.floor(places / (others + 1)));
}

/** Changes the number of deliveries that wait for a receiver. */
function count(waiting: Waiting, receiver: Receiver | undefined, change: number): void {
  if (!receiver?.isSlow) {
    waiting.quick += change;
    return;
  }
  const { workspaceId } = receiver.host;
  waiting.slow += change;
  const ofWorkspace = (waiting.slowOf.get(workspaceId) ?? 0) + change;
  if (ofWorkspace === 0) waiting.slowOf.delete(workspaceId);
  else waiting.slowOf.set(workspaceId, ofWorkspace);
}

/**
 * Returns how many more deliveries may wait: for receivers of the same pace, and for a slow one also within its
 * workspace's limit. A negative number means that too many wait.
 */
function roomIn(waiting: Waiting, receiver: Receiver | undefined): number {
  if (!receiver?.isSlow) return CONCURRENCY.waiting.quick - waiting.quick;
  const ofWorkspace =
    CONCURRENCY.waiting.slowOfWorkspace - (waiting.slowOf.get(receiver.host.workspaceId) ?? 0);
  return Math.min(CONCURRENCY.waiting.slow - waiting.slow, ofWorkspace);
}
