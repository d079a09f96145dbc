import { type Delivery, SignatureProblem } from '../connector.ts';
import { headerOf } from '../signatures.ts';

/** Largest age of a signature. Seconds; the default of Stripe's library. */
const TOLERANCE = 300;

/**
 * What the header may hold. Stripe's library throws other errors for a signature that is empty or not ASCII, and anyone
 * can send one. It ignores other schemes, such as `v0` of test events.
 */
const PART = /^(?:t=\d{1,12}|v1=[0-9a-f]{64})$/;

/** Checks `stripe-signature` with Stripe's own library. @throws {SignatureProblem} */
export async function verifyStripe({ body, headers }: Delivery, secret: string, now: Date): Promise<void> {
  const parts = headerOf(headers, 'stripe-signature').split(',');
  const header = parts
    .map((part) => part.trim())
    .filter((part) => PART.test(part))
    .join();
  // Loaded at the first event: the package takes 0.2 s, and most deployments connect no Stripe account.
  const { default: Stripe } = await import('stripe');
  const { signature } = Stripe.webhooks;
  if (!signature) throw new Error('the package stripe can not verify signatures');
  try {
    signature.verifyHeader(body, header, secret, TOLERANCE, undefined, now.getTime());
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    // Its first line says what is wrong, and shows no part of the secret; the others advise on frameworks.
    throw new SignatureProblem(
      `the header \`stripe-signature\` is refused: ${error.message.split('\n')[0]?.trim()}`,
    );
  }
}
