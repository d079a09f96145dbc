import type { Buyer } from '../../core/connections/connector.ts';
import { type PaymentState, paymentState, providerUserOf } from '../../core/connections/payment-parts.ts';
import { isUuid } from '../../core/ids.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import type { Connection } from '../connections/connections.ts';
import { emailOfPayer, tiedBuyers } from '../connections/customers.ts';
import { NAMES } from '../connections/named-payments.ts';
import {
  buyerOfEarlier,
  type ConnectionPayment,
  payerOf,
  paymentsOfSubscription,
} from '../connections/payments.ts';
import type { Queryable } from '../database/pool.ts';
import { signupOfUser, userOfOrder } from '../referrals/signups.ts';
import type { Workspace } from '../workspaces/workspaces.ts';
import { recordSignup } from './record-signup.ts';

export type PaymentContext = {
  workspace: Workspace;
  connection: Connection;
  now: Date;
  /** The provider's id of the event that is applied; null: none. */
  eventId: string | null;
  /** Returns the enrollment whose link the visitor clicked last before they paid, or null. */
  clicked(visitorId: string, paidAt: Date): Promise<string | null>;
};

/** What identified the buyer. `payer`: a tie of the payer. `earlier`: another purchase of the payer. */
type BuyerBy = 'assigned' | 'name' | 'payer' | 'earlier' | 'click' | 'email';

/** The buyer. `by`: what identified them; null: the buyer is unknown. */
export type PaymentBuyer = {
  user: string | null;
  by: BuyerBy | null;
  email: string | null;
  visitorId: string | null;
  /** Id of the coupon of the earlier purchase that identified the buyer; null: none. */
  couponId: string | null;
  /**
   * Names that take precedence over `by` and belonged to no known user, in the form of {@link NAMES}. One of them may
   * identify a user later.
   */
  passedOver: readonly string[];
};

type Paid = PaymentState & { sale: NonNullable<PaymentState['sale']> };

/**
 * Finds the buyer of a payment; only this function does. It tries, in this order, and skips what names no known user:
 * the names in the payment's own metadata; the payer's ties from events, the merchant or an import, the payer's earlier
 * purchase, or the trial of the subscription; the emails of the payment, then of the customer. A visitor without a user
 * counts as known if they clicked a referral link: then the signup of the buyer is recorded here.
 */
export async function buyerOfPayment(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  state: Paid,
): Promise<PaymentBuyer> {
  const { workspace, connection } = context;
  const paidAt = new Date(state.sale.paidAt);
  const tied = await tiedBuyers(tx, payment, payerOf(payment), paidAt);
  const ofCustomer = await emailOfPayer(tx, payment, payerOf(payment));
  const emails = [...state.emails, ...(ofCustomer === null ? [] : [ofCustomer])]
    .filter(isEmail)
    .map(normalizeEmail);
  const [email = null] = emails;
  const visitorId = [...state.buyers, ...tied.slice(0, 1)].flatMap(visitorsOf)[0] ?? null;
  const passedOver: string[] = [];
  const found = { email, visitorId, couponId: null, passedOver };
  if (payment.assigned_user !== null) return { ...found, user: payment.assigned_user, by: 'assigned' };
  // The name that a buyer gets when a click identifies them, or when the buyer is unknown.
  const named = [...state.buyers, ...tied].map(nameOf).find((name) => name !== null) ?? null;

  async function buyerNamed(name: Buyer, by: BuyerBy): Promise<PaymentBuyer | null> {
    const user = await knownUser(tx, workspace.id, name);
    if (user !== null) return { ...found, user, by };
    for (const visitor of visitorsOf(name)) {
      const enrollmentId = await context.clicked(visitor, paidAt);
      if (enrollmentId === null) continue;
      const buyer = named ?? providerUserOf(connection.provider, payment.customer_id, state.sale.ref);
      await referBuyer(tx, context, { user: buyer, email, visitorId: visitor, enrollmentId, paidAt });
      return { ...found, visitorId: visitor, user: buyer, by: 'click' };
    }
    passedOver.push(...namesOfBuyer(name));
    return null;
  }

  for (const name of state.buyers) {
    const buyer = await buyerNamed(name, 'name');
    if (buyer) return buyer;
  }
  for (const name of tied) {
    const buyer = await buyerNamed(name, 'payer');
    if (buyer) return buyer;
  }
  const earlier = await buyerOfEarlier(tx, payment, paidAt);
  if (earlier) {
    const { user, couponId } = earlier;
    // If only a coupon is known of the buyer, the email names the user: a second id would make the person a duplicate.
    const isUser = user !== null && (await signupOfUser(tx, workspace.id, user)) !== null;
    const own = couponId === null || isUser ? null : await userOfEmails(tx, workspace.id, emails);
    return { ...found, user: own ?? user, by: 'earlier', couponId };
  }
  const trials = await trialsOf(tx, payment, state.sale.paidAt);
  for (const [by, given] of [
    [
      'earlier',
      trials
        .flatMap((one) => one.emails)
        .filter(isEmail)
        .map(normalizeEmail),
    ],
    ['email', emails],
  ] as const) {
    const user = await userOfEmails(tx, workspace.id, given, passedOver);
    if (user !== null) return { ...found, user, by };
  }
  return { ...found, user: named, by: null };
}

/** Returns the free payments with which the subscription of a payment began: they tell its customer, and its code. */
async function trialsOf(tx: Queryable, payment: ConnectionPayment, paidAt: number): Promise<PaymentState[]> {
  if (payment.subscription_id === null) return [];
  const all = await paymentsOfSubscription(tx, payment, payment.subscription_id);
  return all
    .filter(({ id }) => id !== payment.id)
    .map(({ parts }) => paymentState(parts, false))
    .filter(({ sale }) => sale?.cycle === 'first' && sale.amountMinor <= 0 && sale.paidAt <= paidAt);
}

/** Returns the codes of a payment, else those of the trial with which its subscription began. */
export async function codesOfPayment(
  tx: Queryable,
  payment: ConnectionPayment,
  { codes, sale }: PaymentState,
): Promise<readonly string[]> {
  if (codes.length > 0 || sale === null) return codes;
  return (await trialsOf(tx, payment, sale.paidAt)).flatMap((trial) => trial.codes);
}

/** @param passedOver gets the emails that name no known user */
async function userOfEmails(
  tx: Queryable,
  workspaceId: string,
  emails: readonly string[],
  passedOver: string[] = [],
): Promise<string | null> {
  for (const email of emails) {
    const user = await userOfOrder(tx, workspaceId, { email, visitorId: null });
    if (user !== null) return user;
    passedOver.push(`${NAMES.email}${email}`);
  }
  return null;
}

/**
 * Records that a referrer referred the buyer, as a server's report of the signup. A referrer that a server named stays.
 */
export async function referBuyer(
  tx: Queryable,
  { workspace, now }: Pick<PaymentContext, 'workspace' | 'now'>,
  given: {
    user: string;
    email: string | null;
    visitorId: string | null;
    enrollmentId: string;
    paidAt: Date;
  },
): Promise<void> {
  await recordSignup(
    tx,
    workspace,
    {
      workspace_id: workspace.id,
      external_user_id: given.user,
      email: given.email,
      device_id: null,
      visitor_id: given.visitorId,
      address_hash: null,
      by_server: true,
      reported_at: given.paidAt < now ? given.paidAt : now,
    },
    { enrollmentId: given.enrollmentId },
    now,
  );
}

async function knownUser(tx: Queryable, workspaceId: string, buyer: Buyer): Promise<string | null> {
  for (const user of [buyer.externalUserId, buyer.reference]) {
    if (user !== null && (await signupOfUser(tx, workspaceId, user))) return user;
  }
  for (const visitorId of visitorsOf(buyer)) {
    const user = await userOfOrder(tx, workspaceId, { email: null, visitorId });
    if (user !== null) return user;
  }
  return null;
}

/** A reference in the form of a visitor's id counts as one, unless a user has that id. */
function visitorsOf({ visitorId, reference }: Buyer): string[] {
  return [visitorId, reference].flatMap((id) => (id !== null && isUuid(id) ? [id.toLowerCase()] : []));
}

/** The names of a buyer as {@link NAMES} are written. */
const namesOfBuyer = (buyer: Buyer): string[] => [
  ...[buyer.externalUserId, buyer.reference].flatMap((user) => (user === null ? [] : `${NAMES.user}${user}`)),
  ...visitorsOf(buyer).map((visitor) => `${NAMES.visitor}${visitor}`),
];

function nameOf({ externalUserId, reference }: Buyer): string | null {
  return externalUserId ?? (reference !== null && !isUuid(reference) ? reference : null);
}
