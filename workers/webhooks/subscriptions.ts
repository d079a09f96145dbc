import { CLICK_EVENT } from '../../core/webhooks/event-types.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { readSubscriptions, type Subscription, webhookVersion } from '../../sql/webhooks/subscriptions.ts';

/** All active webhooks at one moment. Ten thousand of them are a few megabytes. */
export type Subscriptions = {
  byId: ReadonlyMap<string, Subscription>;
  /** Ids of those that get nothing until their workspace's plan is renewed. */
  asleep: ReadonlySet<string>;
  /** Those that want an event of the workspace that happened at this microsecond. */
  subscribers(workspaceId: string, type: string, at: number): Subscription[];
  /** Whether anybody anywhere wants clicks. */
  wantsClicks: boolean;
  /** Those of a workspace that want clicks, whenever they happened. */
  clickSubscribers(workspaceId: string): readonly Subscription[];
};

/**
 * Keeps the webhooks in memory.
 *
 * @returns a function that answers them as they are now or later, never as they were before the call: a webhook
 *   whose creation was answered before an event happened gets that event
 */
export function createSubscriptions(pool: Pool): () => Promise<Subscriptions> {
  let known: { version: number; snapshot: Subscriptions } | null = null;
  let loading: { version: number; outcome: Promise<Subscriptions> } | null = null;

  async function load(version: number): Promise<Subscriptions> {
    const snapshot = index(await readSubscriptions(pool));
    // Read after its version, so at least as new.
    if (!known || known.version < version) known = { version, snapshot };
    return snapshot;
  }

  return async function current() {
    const version = await webhookVersion(pool);
    if (known && known.version >= version) return known.snapshot;
    if (!loading || loading.version < version) {
      const outcome = load(version).finally(() => {
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
    subscribers: (workspaceId, type, at) =>
      (byWorkspace.get(workspaceId) ?? []).filter(
        (webhook) => webhook.events.includes(type) && webhook.activeSince <= at,
      ),
    wantsClicks: clicks.size > 0,
    clickSubscribers: (workspaceId) => clicks.get(workspaceId) ?? [],
  };
}
