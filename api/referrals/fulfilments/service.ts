import type { SecretSealer } from '../../../core/access/sealed-secret.ts';
import { AppError, badRequest } from '../../../core/errors.ts';
import { checkAll, readEach } from '../../../core/faults.ts';
import { uuidv7 } from '../../../core/ids.ts';
import { isCurrency } from '../../../core/money/money.ts';
import type { FulfilmentProvider } from '../../../core/referrals/fulfilment.ts';
import { newSecret, printSecret } from '../../../core/webhooks/signature.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import {
  type Fulfilment,
  type FulfilmentSettings,
  fulfilmentById,
  insertFulfilment,
  listFulfilments,
  lockFulfilment,
  replaceFulfilmentSecret,
  updateFulfilment,
} from '../../../sql/fulfilments/fulfilments.ts';
import {
  countGrantDeliveries,
  type GrantDelivery,
  grantDeliveryById,
  queueEarlierGrants,
  retryGrantDelivery,
} from '../../../sql/fulfilments/grant-deliveries.ts';
import { holdProgram } from '../../../sql/referrals/programs.ts';
import { lockWorkspace } from '../../../sql/workspaces/workspaces.ts';
import { parseReceiverUrl } from '../../webhooks/receiver-url.ts';
import { noSuchProgram } from '../programs/service.ts';
import type { FulfilmentBody, FulfilmentRecord, SettingsInput } from './schemas.ts';

export const noSuchFulfilment = () => new AppError('not_found', 'the workspace has no such fulfilment');
const noSuchDelivery = () => new AppError('not_found', 'the fulfilment has no such delivery');

const OF_PROVIDER: Record<FulfilmentProvider, readonly (keyof SettingsInput)[]> = {
  webhook: ['url'],
  stripe_balance: ['restricted_key', 'currency', 'credit_value'],
};

/** @throws {AppError} `bad_request` when a setting is not the provider's, or is not a currency */
export function checkSettings(provider: FulfilmentProvider, { currency, ...input }: SettingsInput): void {
  const given = { ...input, ...(currency !== undefined && { currency }) };
  checkAll([
    () =>
      readEach(Object.keys(given), (name) => {
        if (!OF_PROVIDER[provider].some((known) => known === name))
          throw badRequest(
            `settings.${name}`,
            `is not a setting of ${provider}: it has ${OF_PROVIDER[provider].join(', ')}`,
          );
      }),
    () => checkValues(given),
  ]);
}

/**
 * Checks a create body.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkFulfilment(
  { provider, settings }: Partial<FulfilmentBody>,
  faulty: ReadonlySet<string> = new Set(),
): void {
  if (settings === undefined) return;
  if (provider === undefined) checkValues(settings);
  else checkSettings(provider, settings);
  if (provider === 'webhook' && settings.url === undefined && !faulty.has('settings.url'))
    throw badRequest('settings.url', 'is required for a webhook');
}

/** Checks the values of settings of any provider. @throws {AppError} `bad_request` that names every fault */
export function checkValues({ url, currency }: SettingsInput): void {
  checkAll([
    () => url !== undefined && parseReceiverUrl(url, 'settings.url'),
    () => {
      if (currency !== undefined && !isCurrency(currency))
        throw badRequest('settings.currency', 'must be an ISO 4217 code');
    },
  ]);
}

/** Returns checked settings; missing ones are null. */
function readSettings(input: SettingsInput, seal: (key: string) => Buffer): FulfilmentSettings {
  return {
    url: input.url ?? null,
    restricted_key: input.restricted_key === undefined ? null : seal(input.restricted_key),
    currency: input.currency?.toLowerCase() ?? null,
    credit_value: input.credit_value ?? null,
  };
}

/**
 * Creates the fulfilment of a program.
 *
 * @throws {AppError} `not_found` when the workspace has no such program, `conflict` when it has a fulfilment
 */
export async function createFulfilment(
  tx: Queryable,
  workspaceId: string,
  body: FulfilmentBody,
  sealer: SecretSealer,
): Promise<FulfilmentRecord & { secret?: string }> {
  const { provider, program_id: programId } = body;
  await lockWorkspace(tx, workspaceId);
  const program = await holdProgram(tx, workspaceId, programId);
  if (!program) throw noSuchProgram();
  const [known] = await listFulfilments(tx, workspaceId, { programId, before: null, limit: 1 });
  if (known) throw new AppError('conflict', `the program has a fulfilment: ${known.id}`);
  const id = uuidv7();
  const settings = readSettings(body.settings, (key) => sealer.seal(key, id));
  const secret = provider === 'webhook' ? newSecret() : null;
  const made = await insertFulfilment(tx, workspaceId, {
    ...settings,
    ...(provider === 'stripe_balance' && {
      currency: settings.currency ?? program.terms.currency,
      credit_value: settings.credit_value ?? 1,
    }),
    id,
    provider,
    programId,
    secret,
  });
  if (body.include_earlier) await queueEarlierGrants(tx, workspaceId, { id: made.id, provider, programId });
  const [record] = await withCounts(tx, workspaceId, [made]);
  if (!record) throw noSuchFulfilment();
  return secret ? { ...record, secret: printSecret(secret) } : record;
}

/** Returns fulfilments as they are shown, with their deliveries by status. */
export async function withCounts(
  db: Queryable,
  workspaceId: string,
  fulfilments: readonly Fulfilment[],
): Promise<FulfilmentRecord[]> {
  const counts = await countGrantDeliveries(
    db,
    workspaceId,
    fulfilments.map(({ id }) => id),
  );
  return fulfilments.map(({ url, currency, credit_value, restricted_key_set, ...shown }) => ({
    ...shown,
    settings: {
      ...(url !== null && { url }),
      ...(currency !== null && { currency }),
      ...(credit_value !== null && { credit_value }),
      ...(shown.provider === 'stripe_balance' && { restricted_key_set }),
    },
    deliveries: counts.get(shown.id) ?? { pending: 0, delivered: 0, failed: 0, canceled: 0 },
  }));
}

/** Changes the given settings only. @throws {AppError} `not_found`, `bad_request` */
export async function changeFulfilment(
  tx: Queryable,
  workspaceId: string,
  id: string,
  input: SettingsInput,
  sealer: SecretSealer,
): Promise<FulfilmentRecord> {
  const fulfilment = await lockFulfilment(tx, workspaceId, id);
  if (!fulfilment) throw noSuchFulfilment();
  checkSettings(fulfilment.provider, input);
  const changed = await updateFulfilment(
    tx,
    workspaceId,
    id,
    readSettings(input, (key) => sealer.seal(key, id)),
  );
  const [record] = changed ? await withCounts(tx, workspaceId, [changed]) : [];
  if (!record) throw noSuchFulfilment();
  return record;
}

/** Replaces the signing secret. @throws {AppError} `not_found`, `conflict` when its provider is not a webhook */
export async function rotateFulfilmentSecret(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<FulfilmentRecord & { secret: string }> {
  const fulfilment = await lockFulfilment(tx, workspaceId, id);
  if (!fulfilment) throw noSuchFulfilment();
  if (fulfilment.provider !== 'webhook') {
    throw new AppError('conflict', 'only a fulfilment of `webhook` has a signing secret');
  }
  const secret = newSecret();
  await replaceFulfilmentSecret(tx, id, secret);
  const [record] = await withCounts(tx, workspaceId, [fulfilment]);
  if (!record) throw noSuchFulfilment();
  return { ...record, secret: printSecret(secret) };
}

/**
 * Makes a delivery due at once.
 *
 * @throws {AppError} `not_found`; `conflict` when it is delivered or canceled, or its credit is not earned any more
 */
export async function retryNow(
  tx: Queryable,
  workspaceId: string,
  id: string,
  deliveryId: string,
): Promise<GrantDelivery> {
  if (!(await fulfilmentById(tx, workspaceId, id))) throw noSuchFulfilment();
  const before = await grantDeliveryById(tx, workspaceId, id, deliveryId);
  if (!before) throw noSuchDelivery();
  if (!(await retryGrantDelivery(tx, workspaceId, deliveryId))) {
    const why = before.status === 'failed' ? 'its credit is no longer earned' : `it is ${before.status}`;
    throw new AppError('conflict', `the delivery cannot be retried: ${why}`);
  }
  const retried = await grantDeliveryById(tx, workspaceId, id, deliveryId);
  if (!retried) throw noSuchDelivery();
  return retried;
}
