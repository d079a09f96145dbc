import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import { passesFilter, subjectsOf } from '../../core/webhooks/filter.ts';
import type { Pool, Queryable } from '../../sql/database/pool.ts';
import { readSubscriptions, type Subscription, webhookVersion } from '../../sql/webhooks/subscriptions.ts';

/** All active webhooks at one moment. Ten thousand take a few megabytes. */
export type Subscriptions = {
  byId: ReadonlyMap<string, Subscription>;
  /** Ids of webhooks that get nothing until their workspace's plan is renewed. */
  asleep: ReadonlySet<string>;
  /** Returns the webhooks subscribed to an event of the workspace at this microsecond. */
  subscribers(
    workspaceId: string,
    event: { type: string; data: unknown; isTest: boolean },
    at: number,
  ): Subscription[];
  /** Whether any webhook subscribes to clicks. */
  wantsClicks: boolean;
  /** Returns the webhooks of a workspace that subscribe to clicks, with any start of the subscription. */
  clickSubscribers(workspaceId: string): readonly Subscription[];
  /** Ids of the workspaces with a webhook that gets the clicks of some folders only. */
  clicksByFolder: ReadonlySet<string>;
};

/** @param tx the caller's transaction, if there is one */
export type ReadSubscriptions = (tx?: Queryable) => Promise<Subscriptions>;

/**
 * Caches the webhooks.
 *
 * @returns a function that returns their state at the call or later: a webhook whose creation was acknowledged before
 *   an event gets that event. A transaction reads them itself, since it must not wait for another connection
 */
export function createSubscriptions(pool: Pool): ReadSubscriptions {
  let known: { version: number; snapshot: Subscriptions } | null = null;
  let asked: Promise<number> | null = null;
  let loading: { version: number; outcome: Promise<Subscriptions> } | null = null;

  async function load(db: Queryable, version: number): Promise<Subscriptions> {
    const snapshot = index(await readSubscriptions(db));
    // Read after its version, so at least as new.
    if (!known || known.version < version) known = { version, snapshot };
    return snapshot;
  }

  /** Calls of one turn of the event loop share a query, which is sent after the last of them. */
  function readVersion(): Promise<number> {
    asked ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      asked = null;
      return webhookVersion(pool);
    });
    return asked;
  }

  return async function current(tx) {
    const version = await (tx ? webhookVersion(tx) : readVersion());
    if (known && known.version >= version) return known.snapshot;
    if (tx) return load(tx, version);
    if (!loading || loading.version < version) {
      const outcome = load(pool, version).finally(() => {
        if (loading?.version === version) loading = null;
      });
      loading = { version, outcome };
    }
    return loading.outcome;
  };
}

function index({
  awake: all,
  asleep,
}: {
  awake: readonly Subscription[];
  asleep: readonly string[];
}): Subscriptions {
  const byId = new Map(all.map((webhook) => [webhook.id, webhook]));
  const byWorkspace = Map.groupBy(all, (webhook) => webhook.workspaceId);
  const clicks = Map.groupBy(
    all.filter((webhook) => webhook.events.includes(CLICK_EVENT)),
    (webhook) => webhook.workspaceId,
  );
  return {
    byId,
    asleep: new Set(asleep),
    subscribers(workspaceId, { type, data, isTest }, at) {
      const subjects = subjectsOf(type, data);
      return (byWorkspace.get(workspaceId) ?? []).filter(
        ({ events, activeSince, filter }) =>
          events.includes(type) && activeSince <= at && (isTest || passesFilter(filter, subjects)),
      );
    },
    wantsClicks: clicks.size > 0,
    clickSubscribers: (workspaceId) => clicks.get(workspaceId) ?? [],
    clicksByFolder: new Set(
      [...clicks].flatMap(([id, hooks]) => (hooks.some((one) => one.filter?.folder_ids) ? [id] : [])),
    ),
  };
}
