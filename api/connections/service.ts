import type { SecretSealer } from '../../core/access/sealed-secret.ts';
import { connectorOf } from '../../core/connections/connectors.ts';
import { OPEN_MS, providerUserOf } from '../../core/connections/payment-parts.ts';
import { type Provider, providerWords } from '../../core/connections/providers.ts';
import { AppError, badRequest } from '../../core/errors.ts';
import { readAll } from '../../core/faults.ts';
import {
  type ConnectionChange as Change,
  type Connection,
  connectionById,
  countConnections,
  insertConnection,
  lockConnection,
  updateConnection,
} from '../../sql/connections/connections.ts';
import { tiePayer } from '../../sql/connections/customers.ts';
import { eventById, type ShownEvent } from '../../sql/connections/events.ts';
import {
  assignPayment,
  openPaymentsOfPayer,
  payerOf,
  paymentById,
  resumePayments,
} from '../../sql/connections/payments.ts';
import type { PoolClient, Queryable } from '../../sql/database/pool.ts';
import { lockEnrollment } from '../../sql/referrals/enrollments.ts';
import { purchaseOfOrder } from '../../sql/referrals/purchases.ts';
import { signupOfUser } from '../../sql/referrals/signups.ts';
import { referBuyer } from '../../sql/transactions/payment-buyer.ts';
import { settlePayment } from '../../sql/transactions/settle-payment.ts';
import { lockWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import { NOT_BLANK, ONE_LINE, PATTERN_MESSAGES, STRIPE_KEY } from '../schemas.ts';
import type { ConnectionBody, ConnectionChange, ConnectionRecord, ConnectionStatus } from './schemas.ts';

export const noSuchConnection = () => new AppError('not_found', 'the workspace has no such connection');
export const noSuchEvent = () => new AppError('not_found', 'the connection has no such event');

/** Maximum number of connections of one workspace. */
export const MOST_CONNECTIONS = 20;

/** Returns the address that receives the events of a connection. @param baseUrl of the API */
const webhookUrlOf = (baseUrl: string, id: string): string => `${baseUrl}/api/v1/connections/${id}/webhook`;

/** Returns a connection as the API shows it: without its secrets. */
export function toRecord(connection: Connection, baseUrl: string): ConnectionRecord {
  const { id, provider, signing_secret, restricted_key, settings, last_event_at, refused_at, created_at } =
    connection;
  return {
    id,
    provider,
    status: statusOf(connection),
    webhook_url: webhookUrlOf(baseUrl, id),
    event_types: eventTypesOf(provider),
    signing_secret_set: signing_secret !== null,
    restricted_key_set: restricted_key !== null,
    settings,
    last_event_at,
    last_refused_at: refused_at,
    created_at,
  };
}

function statusOf({ signing_secret, last_event_at }: Connection): ConnectionStatus {
  if (signing_secret === null) return 'incomplete';
  return last_event_at === null ? 'waiting' : 'active';
}

const eventTypesOf = (provider: Provider): string[] => [...connectorOf(provider).eventTypes];

/** Adds a connection. @throws {AppError} `conflict` when the workspace has {@link MOST_CONNECTIONS} */
export async function createConnection(
  tx: Queryable,
  workspaceId: string,
  body: ConnectionBody,
  sealer: SecretSealer,
): Promise<Connection> {
  await lockWorkspace(tx, workspaceId);
  if ((await countConnections(tx, workspaceId)) >= MOST_CONNECTIONS)
    throw new AppError('conflict', `a workspace has at most ${MOST_CONNECTIONS} connections`);
  const { provider, settings } = body;
  const made = await insertConnection(tx, workspaceId, {
    provider,
    settings: { mode: settings?.mode ?? 'live', ...(settings?.accounts && { accounts: settings.accounts }) },
  });
  await resumePayments(tx, made);
  return (await updateConnection(tx, workspaceId, made.id, sealed(made, body, sealer))) ?? made;
}

/** Changes the given fields only. @throws {AppError} `not_found` */
export async function changeConnection(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: ConnectionChange,
  sealer: SecretSealer,
): Promise<Connection> {
  const connection = await connectionById(tx, workspaceId, id);
  if (!connection) throw noSuchConnection();
  const settings = { ...connection.settings, ...change.settings };
  const changed = await updateConnection(tx, workspaceId, id, {
    ...sealed(connection, change, sealer),
    settings,
  });
  if (!changed) throw noSuchConnection();
  return changed;
}

/** @throws {AppError} `bad_request` for a text that cannot be such a secret */
function sealed({ id, provider }: Connection, given: ConnectionChange, sealer: SecretSealer): Change {
  const { signing_secret, restricted_key } = readSecrets(provider, given);
  const seal = (secret: string | null) => (secret === null ? null : sealer.seal(secret, id));
  return {
    ...(signing_secret !== undefined && { signing_secret: seal(signing_secret) }),
    ...(restricted_key !== undefined && { restricted_key: seal(restricted_key) }),
  };
}

type Secrets = Pick<ConnectionChange, 'signing_secret' | 'restricted_key'>;

/** Returns the secrets as they are sealed. @throws {AppError} `bad_request` that names every fault */
function readSecrets(provider: Provider, { signing_secret: secret, restricted_key: key }: Secrets): Secrets {
  return readAll({
    signing_secret: () => (secret === undefined ? undefined : readSigningSecret(secret, provider)),
    restricted_key: () => (key === undefined ? undefined : readRestrictedKey(key, provider)),
  });
}

/** Checks a create body. @throws {AppError} `bad_request` that names every fault */
export function checkConnection({ provider, ...secrets }: Partial<ConnectionBody>): void {
  if (provider !== undefined) readSecrets(provider, secrets);
}

/** Refuses an empty secret, with which anyone could sign an event. */
function readSigningSecret(given: string | null, provider: Provider): string | null {
  if (given === null) return null;
  const secret = requireText('signing_secret', given.trim(), [NOT_BLANK, ONE_LINE]);
  const { secretPrefix: prefix = '' } = providerWords(provider);
  if (!secret.startsWith(prefix) || secret === prefix) {
    const message = `must be the signing secret of the webhook: \`${prefix}\` and the letters and digits after it`;
    throw badRequest('signing_secret', message);
  }
  return secret;
}

function readRestrictedKey(given: string | null, provider: Provider): string | null {
  if (given === null) return null;
  if (providerWords(provider).restrictedKey === undefined)
    throw badRequest('restricted_key', `must be null: Hoplog does not call the API of ${provider}`);
  return requireText('restricted_key', given.trim(), [STRIPE_KEY]);
}

function requireText(field: string, text: string, patterns: readonly string[]): string {
  const broken = patterns.find((pattern) => !new RegExp(pattern).test(text));
  if (broken !== undefined) throw badRequest(field, PATTERN_MESSAGES[broken] ?? 'is invalid');
  return text;
}

/**
 * Assigns the purchase of an event to a referrer. From then on its buyer, even an unknown one, belongs to that
 * referrer.
 *
 * @returns the event as it is now
 * @throws {AppError} `not_found`; `conflict` when the event has no purchase, or its buyer has a referrer
 */
export async function assignPurchase(
  tx: PoolClient,
  workspace: Workspace,
  given: { connectionId: string; eventId: string; partnerId: string },
): Promise<ShownEvent> {
  const { connectionId, eventId, partnerId } = given;
  if (!(await connectionById(tx, workspace.id, connectionId))) throw noSuchConnection();
  const connection = await lockConnection(tx, connectionId);
  const event = connection && (await eventById(tx, connectionId, eventId));
  if (!connection || !event) throw noSuchEvent();
  const enrollment = await lockEnrollment(tx, workspace.id, partnerId);
  if (!enrollment) throw new AppError('not_found', 'the workspace has no such referrer');
  const payment = event.payment_id === null ? null : await paymentById(tx, event.payment_id);
  if (payment?.order_internal_id == null)
    throw new AppError('conflict', 'the event belongs to no recorded purchase');
  const purchase = await purchaseOfOrder(tx, payment.order_internal_id);
  const [ref = payment.id] = payment.refs;
  const user =
    purchase?.external_user_id ??
    payment.recorded?.user ??
    providerUserOf(connection.provider, payment.customer_id, ref);
  const signup = await signupOfUser(tx, workspace.id, user);
  if (purchase?.enrollment_id || signup?.enrollment_id)
    throw new AppError('conflict', 'the buyer of this purchase has a referrer');
  const now = new Date();
  const paidAt = purchase?.purchased_at ?? payment.created_at;
  await referBuyer(
    tx,
    { workspace, now },
    {
      user,
      email: null,
      visitorId: null,
      enrollmentId: enrollment.id,
      paidAt,
    },
  );
  await assignPayment(tx, payment.id, user);
  const payer = payerOf(payment);
  const buyer = { externalUserId: user, visitorId: null, reference: null };
  const source = { eventId: `assign:${eventId}`, connectionId, at: paidAt };
  await tiePayer(tx, connection, { payer, buyer }, source);
  const context = { workspace, connection, now, eventId: null, clicked: async () => null };
  await settlePayment(tx, context, { ...payment, assigned_user: user }, { isForced: true });
  const since = new Date(now.getTime() - OPEN_MS);
  for (const other of await openPaymentsOfPayer(tx, connection, payer, since))
    if (other.id !== payment.id) await settlePayment(tx, context, other);
  const assigned = await eventById(tx, connectionId, eventId);
  if (!assigned) throw noSuchEvent();
  return assigned;
}
