import { type Delivery, SignatureProblem } from '../connector.ts';

/** Largest age of a signature. Seconds; the default of Stripe's library. */
export const TOLERANCE = 300;

/** Checks `stripe-signature` with Stripe's own library. @throws {SignatureProblem} */
export async function verifyStripe({ body, headers }: Delivery, secret: string, now: Date): Promise<void> {
  const header = headers['stripe-signature'];
  if (typeof header !== 'string') throw new SignatureProblem('the header `stripe-signature` is missing');
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
