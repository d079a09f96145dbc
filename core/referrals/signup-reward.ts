import type { BlockReason, RewardMode, Terms, Tier } from './terms.ts';

/** A grant for a signup, to the `referrer` or the `referee`. */
export type SignupGrant = {
  cause: 'signup' | 'referee';
  /** Hundredths of a credit. */
  amount: number;
  revokedReason: BlockReason | null;
};

/**
 * Returns what a signup earns. On a credit program with a referrer in referrer mode, that is the referrer's credit by
 * tier and the referee's own. A blocked signup leaves the referrer's credit on record as revoked.
 */
export function signupGrants(
  terms: Pick<Terms, 'status' | 'creditEnabled' | 'signupCredit' | 'refereeCredit'>,
  referrer: { tier: Tier; rewardMode: RewardMode },
  blockReason: BlockReason | null,
): SignupGrant[] {
  if (!terms.creditEnabled) return [];
  const earned = referrer.rewardMode === 'referrer' ? terms.signupCredit[referrer.tier] : 0;
  if (blockReason !== null) return [{ cause: 'signup', amount: earned, revokedReason: blockReason }];
  if (terms.status === 'paused' || referrer.rewardMode === 'affiliate') return [];
  const grants: SignupGrant[] = [
    { cause: 'signup', amount: earned, revokedReason: null },
    { cause: 'referee', amount: terms.refereeCredit, revokedReason: null },
  ];
  return grants.filter((grant) => grant.amount > 0);
}
