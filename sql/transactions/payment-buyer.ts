import type { Buyer } from '../../core/connections/connector.ts';
import { type PaymentState, providerUserOf } from '../../core/connections/payment-parts.ts';
import { isUuid } from '../../core/ids.ts';
import { isEmail, normalizeEmail } from '../../core/tracking/emails.ts';
import type { Connection } from '../connections/connections.ts';
import { tiedBuyer } from '../connections/customers.ts';
import type { ConnectionPayment } from '../connections/payments.ts';
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

/** Who bought. `by`: what told it; null: no one is known. */
export type PaymentBuyer = {
  user: string | null;
  by: 'assigned' | 'name' | 'click' | 'email' | null;
  email: string | null;
  visitorId: string | null;
};

/**
 * Finds the buyer of a payment: by the names in its own metadata, then by those of its customer, then by email. A name that
 * is of no known user is passed over. A visitor without a user is known where they clicked a referral link: then the signup
 * of the buyer is recorded here.
 */
export async function buyerOfPayment(
  tx: Queryable,
  context: PaymentContext,
  payment: ConnectionPayment,
  state: PaymentState & { sale: NonNullable<PaymentState['sale']> },
): Promise<PaymentBuyer> {
  const { workspace, connection } = context;
  const paidAt = new Date(state.sale.paidAt);
  const { customer_id: customer } = payment;
  const tied = customer === null ? null : await tiedBuyer(tx, connection.id, customer, paidAt);
  const names = [...state.buyers, ...(tied ? [tied] : [])];
  const email = state.email !== null && isEmail(state.email) ? normalizeEmail(state.email) : null;
  const visitorId = names.flatMap(visitorsOf)[0] ?? null;
  const found = { email, visitorId };
  if (payment.assigned_user !== null) return { ...found, user: payment.assigned_user, by: 'assigned' };
  // The name that a buyer gets when a click makes them known, or when no one is known.
  const named = names.map(nameOf).find((name) => name !== null) ?? null;
  for (const name of names) {
    const user = await knownUser(tx, workspace.id, name);
    if (user !== null) return { ...found, user, by: 'name' };
    for (const visitor of visitorsOf(name)) {
      const enrollmentId = await context.clicked(visitor, paidAt);
      if (enrollmentId === null) continue;
      const buyer = named ?? providerUserOf(connection.provider, customer, state.sale.ref);
      await referBuyer(tx, context, { user: buyer, email, visitorId: visitor, enrollmentId, paidAt });
      return { email, visitorId: visitor, user: buyer, by: 'click' };
    }
  }
  const byEmail = email === null ? null : await userOfOrder(tx, workspace.id, { email, visitorId: null });
  if (byEmail !== null) return { ...found, user: byEmail, by: 'email' };
  return { ...found, user: named, by: null };
}

/** Records that a referrer referred the buyer, as a server's report of the signup. A referrer that a server named stays. */
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

/** A reference that looks like a visitor's id is taken for one, unless a user has that id. */
function visitorsOf({ visitorId, reference }: Buyer): string[] {
  return [visitorId, reference].flatMap((id) => (id !== null && isUuid(id) ? [id.toLowerCase()] : []));
}

function nameOf({ externalUserId, reference }: Buyer): string | null {
  return externalUserId ?? (reference !== null && !isUuid(reference) ? reference : null);
}
