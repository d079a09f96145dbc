import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll } from '../../core/faults.ts';
import { uuidv7 } from '../../core/ids.ts';
import { nearestName } from '../../core/text/near-names.ts';
import type { WebhookBatch } from '../../core/webhooks/batch.ts';
import { deliveryBody, deliveryId } from '../../core/webhooks/delivery.ts';
import { CLICK_EVENT, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import { FILTER_NAMES, type WebhookFilter } from '../../core/webhooks/filter.ts';
import { formatBody, formatUrl, type WebhookFormat } from '../../core/webhooks/formats.ts';
import { hasPlaceholderInHost, placeholdersOf, TEST_PLACEHOLDER } from '../../core/webhooks/get-url.ts';
import { receiverOfUrl } from '../../core/webhooks/receiver.ts';
import { newSecret, printSecret } from '../../core/webhooks/signature.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import {
  type Delivery,
  deliveryById,
  insertDelivery,
  lastDeliveries,
  redeliver,
} from '../../sql/webhooks/deliveries.ts';
import { idsOf } from '../../sql/webhooks/filter-ids.ts';
import {
  insertWebhook,
  listWebhooks,
  lockWebhook,
  rotateSecret,
  updateWebhook,
  type Webhook,
  webhookById,
} from '../../sql/webhooks/webhooks.ts';
import { lockWorkspace } from '../../sql/workspaces/workspaces.ts';
import { dataFields } from './event-schemas.ts';
import { parseReceiverUrl } from './receiver-url.ts';
import type { DeliveryWithRequest, WebhookBody, WebhookChange, WebhookShown } from './schemas.ts';

export const noSuchWebhook = () => new AppError('not_found', 'the workspace has no such webhook');
const noSuchDelivery = () => new AppError('not_found', 'the webhook has no such delivery');

/** How long a rotated secret still signs beside the new one. Milliseconds. */
const OVERLAP_MS = 86_400_000;

/** Maximum number of webhooks of one workspace: each makes a call for every event. */
export const MOST_WEBHOOKS = 20;

/**
 * Creates a webhook with a checked URL.
 *
 * @throws {AppError} `conflict` when the workspace has {@link MOST_WEBHOOKS}, or one for this URL, these events, and
 *   this filter; `bad_request` that names an id that the workspace does not have
 */
export async function createWebhook(
  tx: Queryable,
  workspaceId: string,
  body: WebhookBody,
): Promise<Webhook & { secret: string }> {
  await lockWorkspace(tx, workspaceId);
  const { url, batch = null, format = 'json' } = body;
  const events = [...new Set(body.events)];
  checkPlaceholders({ url, format, events });
  const filter = await readFilter(tx, workspaceId, body.filter, null);
  checkBatch(batch, { events, format });
  await refuseTwin(tx, workspaceId, null, { url, events, filter });
  const secret = newSecret();
  const webhook = await insertWebhook(tx, workspaceId, {
    url,
    events,
    description: body.description ?? null,
    filter,
    format,
    batch,
    is_active: body.is_active ?? true,
    secret,
  });
  return { ...webhook, secret: printSecret(secret) };
}

/** Returns webhooks with the outcome of each one's newest delivery. */
export async function withLastDelivery(
  db: Queryable,
  workspaceId: string,
  webhooks: readonly Webhook[],
): Promise<WebhookShown[]> {
  const ids = webhooks.map(({ id }) => id);
  const last = await lastDeliveries(db, workspaceId, ids);
  return webhooks.map((webhook) => ({
    ...(webhook as Webhook & Pick<WebhookShown, 'events'>),
    last_delivery: last.get(webhook.id) ?? null,
  }));
}

/** Changes the given settings only. @throws {AppError} `not_found` */
export async function changeWebhook(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: WebhookChange,
): Promise<Webhook> {
  const webhook = await requireLocked(tx, workspaceId, id);
  if (Object.keys(change).length === 0) return webhook;
  const url = change.url ?? webhook.url;
  const events = [...new Set(change.events ?? webhook.events)];
  const filter =
    change.filter === undefined
      ? webhook.filter
      : await readFilter(tx, workspaceId, change.filter, webhook.filter);
  const batch = change.batch === undefined ? webhook.batch : change.batch;
  const format = change.format ?? webhook.format;
  checkPlaceholders({ url, format, events });
  checkBatch(batch, { events, format });
  if (change.url !== undefined || change.events !== undefined || change.filter !== undefined) {
    await refuseTwin(tx, workspaceId, id, { url, events, filter });
  }
  const changed = await updateWebhook(tx, workspaceId, id, {
    url,
    events,
    description: change.description === undefined ? webhook.description : change.description,
    filter,
    format,
    batch,
    is_active: change.is_active ?? webhook.is_active,
  });
  if (!changed) throw noSuchWebhook();
  return changed;
}

/** Adds a new secret beside those of the last 24 hours. @throws {AppError} `not_found` */
export async function rotate(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<Webhook & { secret: string }> {
  const webhook = await requireLocked(tx, workspaceId, id);
  const secret = newSecret();
  await rotateSecret(tx, id, secret, OVERLAP_MS);
  return { ...webhook, secret: printSecret(secret) };
}

/**
 * Creates a test event for one webhook, regardless of its subscriptions. @throws {AppError} `not_found`,
 * `conflict`
 */
export async function sendTest(tx: Queryable, workspaceId: string, id: string): Promise<Delivery> {
  requireActive(await webhookById(tx, workspaceId, id));
  const eventId = uuidv7();
  const created_at = new Date().toISOString();
  return insertDelivery(tx, {
    id: deliveryId(id, eventId),
    workspaceId,
    webhookId: id,
    eventId,
    type: TEST_EVENT,
    body: deliveryBody({ id: eventId, type: TEST_EVENT, created_at, data: {} }),
  });
}

/** Returns a delivery with the request of its last attempt. @throws {AppError} `not_found` */
export async function deliveryWithRequest(
  db: Queryable,
  workspaceId: string,
  id: string,
  deliveryId: string,
): Promise<DeliveryWithRequest> {
  // Deliveries remain for a while after their webhook was deleted.
  const webhook = await webhookById(db, workspaceId, id);
  if (!webhook) throw noSuchWebhook();
  const found = await deliveryById(db, workspaceId, id, deliveryId);
  if (!found) throw noSuchDelivery();
  const { body: event, request, ...delivery } = found;
  const { format } = webhook;
  const body = formatBody(format, event);
  const url = request && formatUrl({ format, url: request.url }, event);
  return { ...delivery, request: { url, headers: request?.headers ?? null, body } };
}

/** Schedules a delivery for now. @throws {AppError} `not_found`, `conflict` */
export async function redeliverNow(
  tx: Queryable,
  workspaceId: string,
  id: string,
  deliveryId: string,
): Promise<Delivery> {
  requireActive(await webhookById(tx, workspaceId, id));
  const delivery = await redeliver(tx, workspaceId, id, deliveryId);
  if (!delivery) throw noSuchDelivery();
  return delivery;
}

/**
 * @throws {AppError} `conflict` when another webhook has the URL, the events, and the filter, or the workspace has too many webhooks
 */
async function refuseTwin(
  tx: Queryable,
  workspaceId: string,
  id: string | null,
  { url, events, filter }: Pick<Webhook, 'url' | 'events' | 'filter'>,
): Promise<void> {
  const others = (await listWebhooks(tx, workspaceId, { before: null, limit: 1_000 })).filter(
    (other) => other.id !== id,
  );
  const setOf = (names: readonly string[] = []) => [...new Set(names)].sort().join(' ');
  const gets = (one: Pick<Webhook, 'events' | 'filter'>) =>
    JSON.stringify([setOf(one.events), ...FILTER_NAMES.map((name) => setOf(one.filter?.[name]))]);
  const own = gets({ events, filter });
  const receiver = receiverOfUrl(url)?.href;
  if (others.some((other) => receiverOfUrl(other.url)?.href === receiver && gets(other) === own)) {
    throw new AppError(
      'conflict',
      'the workspace has a webhook with this URL, these events, and this filter',
    );
  }
  if (id === null && others.length >= MOST_WEBHOOKS) {
    throw new AppError('conflict', `a workspace has at most ${MOST_WEBHOOKS} webhooks`);
  }
}

async function requireLocked(tx: Queryable, workspaceId: string, id: string): Promise<Webhook> {
  const webhook = await lockWebhook(tx, workspaceId, id);
  if (!webhook) throw noSuchWebhook();
  return webhook;
}

/** @throws {AppError} `not_found`; `conflict` when the webhook is not active */
function requireActive(webhook: Webhook | null): void {
  if (!webhook) throw noSuchWebhook();
  if (!webhook.is_active) throw new AppError('conflict', 'the webhook is not active');
}

/**
 * Checks a create or change body for what does not depend on the workspace.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkWebhook(
  { url, events, format, batch = null }: WebhookChange,
  faulty: ReadonlySet<string>,
): void {
  checkAll([
    () => {
      if (url === undefined) return;
      parseReceiverUrl(url);
      if (events && format) checkPlaceholders({ url, format, events });
    },
    () => {
      if (events && !faulty.has('format')) checkBatch(batch, { events, format: format ?? 'json' });
    },
  ]);
}

/** Tables of the ids in a filter. */
const FILTERED = { link_ids: 'links', folder_ids: 'folders', program_ids: 'programs' } as const;

/**
 * Returns the filter without repeats, or null where it has no list.
 *
 * @param before the present filter, whose ids may stay although the workspace has them no longer
 * @throws {AppError} `bad_request` that names the first id that the workspace does not have
 */
async function readFilter(
  tx: Queryable,
  workspaceId: string,
  given: WebhookFilter | null | undefined,
  before: WebhookFilter | null,
): Promise<WebhookFilter | null> {
  const lists = FILTER_NAMES.flatMap((name) => {
    const ids: readonly string[] | undefined = given?.[name];
    return ids ? [[name, [...new Set(ids.map((id) => id.toLowerCase()))]] as const] : [];
  });
  if (lists.length === 0) return null;
  for (const name of ['link_ids', 'folder_ids', 'program_ids'] as const) {
    const ids = given?.[name] ?? [];
    const known = await idsOf(tx, FILTERED[name], workspaceId, ids);
    for (const id of before?.[name] ?? []) known.add(id);
    const missing = ids.findIndex((id) => !known.has(id.toLowerCase()));
    if (missing >= 0)
      throw badRequest(`filter.${name}.${missing}`, `must be one of the workspace's ${FILTERED[name]}`);
  }
  return Object.fromEntries(lists);
}

type Form = { format: WebhookFormat; events: readonly string[] };

/** @throws {AppError} `bad_request` when clicks are to be batched and the webhook gets none, or one in each URL */
function checkBatch(batch: WebhookBatch | null, { events, format }: Form): void {
  if (batch && !events.includes(CLICK_EVENT))
    throw badRequest('batch', `requires "${CLICK_EVENT}" in \`events\``);
  if (batch && format === 'get') throw badRequest('batch', 'must be null with the format "get"');
}

/**
 * @throws {AppError} `bad_request` when a URL of the format `get` has a placeholder in its host, or one that no event
 *   of the webhook fills
 */
function checkPlaceholders({ url, format, events }: Form & { url: string }): void {
  if (format !== 'get') return;
  if (hasPlaceholderInHost(url)) throw badRequest('url', 'must have no placeholder in its host');
  const known = new Set([TEST_PLACEHOLDER, ...events.flatMap((type) => dataFields(type))]);
  const unknown = placeholdersOf(url).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const hint =
    near === null ? `has only ${[...known].map((name) => `{${name}}`).join(', ')}` : `{${near}} is one`;
  throw badRequest('url', `must have placeholders of the events' data: {${unknown}} is none, ${hint}`);
}
