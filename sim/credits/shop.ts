import { createCoupon, makePromotionCode } from '../../api/referrals/coupons/service.ts';
import { createFulfilment, retryNow } from '../../api/referrals/fulfilments/service.ts';
import { AppError } from '../../core/errors.ts';
import { uuidv7 } from '../../core/ids.ts';
import { CLOSED_PORTAL } from '../../core/referrals/portal.ts';
import { insertConnection, updateConnection } from '../../sql/connections/connections.ts';
import { tiePayer } from '../../sql/connections/customers.ts';
import { createConnectionSealer } from '../../sql/connections/sealer.ts';
import { inTransaction, type Pool, type Queryable } from '../../sql/database/pool.ts';
import { deleteFulfilment } from '../../sql/fulfilments/fulfilments.ts';
import { createFulfilmentSealer } from '../../sql/fulfilments/sealer.ts';
import { deleteCoupon } from '../../sql/referrals/coupons.ts';
import { insertEnrollment } from '../../sql/referrals/enrollments.ts';
import { insertProgram, newProgramId } from '../../sql/referrals/programs.ts';
import { markDelivered } from '../../sql/transactions/mark-delivered.ts';
import { recordSignup } from '../../sql/transactions/record-signup.ts';
import { revokeCredit } from '../../sql/transactions/revoke-credit.ts';
import { createWorkspace, type Workspace } from '../../sql/workspaces/workspaces.ts';
import { Receivers } from '../webhooks/receivers.ts';
import { type Provider, REFERRERS } from './steps.ts';

const KEY = 'rk_test_of_a_simulation';
const PERCENT_OFF = { percent_off: 20 };
/** Hundredths. */
const CREDIT = 500;

export const userOf = (referrer: number) => `referrer-${referrer}`;
export const customerOf = (number: number) => `cus_${number}`;

/** A shop with a program, whose actions are the transactions of the API. Refused ones change nothing. */
export class Shop {
  readonly workspace: Workspace;
  /** Credits and coupons, in the order of their creation. */
  readonly grants: number[] = [];
  readonly coupons: string[] = [];
  readonly #pool: Pool;
  readonly #programId: string;
  readonly #connectionId: string;
  readonly #enrollments: readonly string[];
  #fulfilmentId: string;
  #signups = 0;
  #ties = 0;

  constructor(pool: Pool, made: Made & { workspace: Workspace; connectionId: string; fulfilmentId: string }) {
    this.#pool = pool;
    this.workspace = made.workspace;
    this.#programId = made.programId;
    this.#enrollments = made.enrollments;
    this.#connectionId = made.connectionId;
    this.#fulfilmentId = made.fulfilmentId;
  }

  async earn(referrer: number): Promise<void> {
    const report = {
      workspace_id: this.workspace.id,
      external_user_id: `user-${this.#signups++}`,
      email: null,
      device_id: null,
      visitor_id: null,
      address_hash: null,
      by_server: true,
    };
    const enrollmentId = this.#enrollments[referrer] ?? '';
    const earned = await inTransaction(this.#pool, async (tx) => {
      const signup = await recordSignup(tx, this.workspace, report, { enrollmentId }, new Date());
      const { rows } = await tx.query<{ id: number }>('SELECT id FROM grants WHERE signup_id = $1', [
        signup?.id,
      ]);
      return rows.map(({ id }) => id);
    });
    this.grants.push(...earned);
  }

  revoke(nth: number): Promise<boolean> {
    return this.#withGrant(nth, (tx, id) =>
      revokeCredit(tx, this.workspace.id, { id, reason: 'by hand', now: new Date() }),
    );
  }

  markDelivered(nth: number): Promise<boolean> {
    return this.#withGrant(nth, (tx, id) => markDelivered(tx, this.workspace.id, id, new Date()));
  }

  retryDelivery(nth: number): Promise<boolean> {
    return this.#withGrant(nth, async (tx, id) => {
      const { rows } = await tx.query<{ id: string }>('SELECT id FROM grant_deliveries WHERE grant_id = $1', [
        id,
      ]);
      if (rows[0]) await retryNow(tx, this.workspace.id, this.#fulfilmentId, rows[0].id);
      return true;
    });
  }

  /** @returns whether it happened */
  async #withGrant(nth: number, work: (tx: Queryable, id: number) => Promise<boolean>): Promise<boolean> {
    const id = this.grants[nth % this.grants.length];
    return id === undefined ? false : this.#unlessRefused((tx) => work(tx, id));
  }

  async #unlessRefused(work: (tx: Queryable) => Promise<boolean>): Promise<boolean> {
    try {
      return await inTransaction(this.#pool, work);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return false;
    }
  }

  async replaceFulfilment(provider: Provider): Promise<void> {
    await inTransaction(this.#pool, (tx) => deleteFulfilment(tx, this.workspace.id, this.#fulfilmentId));
    this.#fulfilmentId = await fulfil(this.#pool, this.workspace.id, this.#programId, provider);
  }

  async createCoupon(): Promise<void> {
    const body = {
      code: `CODE-${this.coupons.length}`,
      external_user_id: userOf(0),
      promotion_code: PERCENT_OFF,
    };
    this.coupons.push(
      await inTransaction(this.#pool, (tx) => createCoupon(tx, this.workspace.id, body, new Date())),
    );
  }

  /** @returns the coupon's id; null: there is none, or it was deleted before */
  async deleteCoupon(nth: number): Promise<string | null> {
    const id = this.coupons[nth % this.coupons.length];
    if (id === undefined) return null;
    const given = { id, now: new Date() };
    return (await this.#unlessRefused((tx) => deleteCoupon(tx, this.workspace.id, given))) ? id : null;
  }

  async retryCoupon(nth: number): Promise<void> {
    const index = nth % this.coupons.length;
    const id = this.coupons[index];
    if (id === undefined) return;
    const given = { body: PERCENT_OFF, path: '', now: new Date() };
    await this.#unlessRefused(async (tx) => {
      const { rowCount } = await tx.query(
        'SELECT FROM coupons WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
        [id],
      );
      if (rowCount === 1)
        await makePromotionCode(tx, this.workspace.id, { id, code: `CODE-${index}` }, given);
      return true;
    });
  }

  async tieCustomer(referrer: number, customer: number): Promise<void> {
    const account = { workspace_id: this.workspace.id, provider: 'stripe' as const };
    const payer = { customer: customerOf(customer), subscription: null };
    const buyer = { externalUserId: userOf(referrer), visitorId: null, reference: null };
    const eventId = `evt_${this.#ties++}`;
    const given = { eventId, connectionId: this.#connectionId, at: new Date() };
    await inTransaction(this.#pool, (tx) => tiePayer(tx, account, { payer, buyer }, given));
  }
}

type Made = { programId: string; enrollments: readonly string[] };

/** Opens a shop with a program that grants credits for signups, its fulfilment, and a connection to Stripe. */
export async function openShop(pool: Pool, provider: Provider): Promise<Shop> {
  const workspace = await createWorkspace(pool, { name: 'Shop', plan: 'unlimited' });
  const made = await inTransaction(pool, (tx) => createProgram(tx, workspace.id));
  const connection = await insertConnection(pool, workspace.id, {
    provider: 'stripe',
    settings: { mode: 'live' } as never,
  });
  const sealer = await createConnectionSealer(pool)();
  await updateConnection(pool, workspace.id, connection.id, {
    restricted_key: sealer.seal(KEY, connection.id),
  });
  const fulfilmentId = await fulfil(pool, workspace.id, made.programId, provider);
  return new Shop(pool, { ...made, workspace, connectionId: connection.id, fulfilmentId });
}

async function createProgram(tx: Queryable, workspaceId: string): Promise<Made> {
  const [programId, destinationId, now] = [newProgramId(), uuidv7(), new Date()];
  await tx.query(
    `INSERT INTO destinations (id, workspace_id, name, destination_url) VALUES ($1, $2, 'Program', 'https://shop.example')`,
    [destinationId, workspaceId],
  );
  await insertProgram(tx, {
    id: programId,
    workspaceId,
    destinationId,
    now,
    code: 'program',
    allow_affiliate_upgrade: false,
    payout_methods: ['paypal'],
    min_payout_minor: 0,
    revoke_credits_on_refund: true,
    portal: CLOSED_PORTAL,
    link_parameters: ['ref'],
    terms: {
      status: 'active',
      creditEnabled: true,
      creditKind: 'credits',
      signupCredit: { free: CREDIT, paid: CREDIT },
      purchaseCredit: 0,
      refereeCredit: 0,
      commissionType: 'percent',
      commissionRate: 0,
      levels: [],
      firstSaleOnly: false,
      commissionMonths: null,
      holdDays: 0,
      currency: 'usd',
      signupsFrom: 'any',
      maxSignupsPerDay: null,
      review: 'none',
    },
  });
  const enrollments: string[] = [];
  for (let referrer = 0; referrer < REFERRERS; referrer++) {
    const given = {
      workspace_id: workspaceId,
      program_id: programId,
      external_user_id: userOf(referrer),
      email: null,
      name: null,
      device_id: null,
      address_hash: null,
      tier: 'free' as const,
      reward_mode: 'referrer' as const,
    };
    const enrollment = await insertEnrollment(tx, given, { now, by: 'operator' });
    if (enrollment) enrollments.push(enrollment.id);
  }
  return { programId, enrollments };
}

/** Creates the fulfilment of a program. @returns its id */
async function fulfil(
  pool: Pool,
  workspaceId: string,
  programId: string,
  provider: Provider,
): Promise<string> {
  const sealer = await createFulfilmentSealer(pool)();
  const settings = provider === 'webhook' ? { url: Receivers.url(0) } : { restricted_key: KEY };
  const body = { provider, program_id: programId, settings, include_earlier: true };
  const { id } = await inTransaction(pool, (tx) => createFulfilment(tx, workspaceId, body, sealer));
  return id;
}
