import { selfReferralEmail } from '../tracking/emails.ts';
import type { BlockReason, EnrollmentStatus } from './terms.ts';

/** Facts about a referrer, from the enrollment and from the referrer's own signup. */
export type ReferrerTraits = {
  externalUserId: string;
  status: EnrollmentStatus;
  emails: string[];
  deviceIds: string[];
  /** Keyed hash of the address that enrolled with a publishable key; null when a server did. */
  addressHash: Buffer | null;
};

/** Facts about the person who signs up, or who buys with a coupon. */
export type SignupTraits = {
  /** Null: the buyer of an order that names no user. */
  externalUserId: string | null;
  email: string | null;
  deviceId: string | null;
  /** Whether the visitor behind the signup is known to be the referrer. */
  isReferrersVisitor: boolean;
  /** Keyed hash of the address of a call with a publishable key; null when a server called. */
  addressHash: Buffer | null;
  /** Whether the same mailbox, device or visitor is a referee of the workspace under another id. */
  isDuplicate: boolean;
  /** Whether the referrer was referred by this person, directly or through others. */
  isMutual: boolean;
  /** Whether the referrer has reached the program's limit of signups a day. */
  isOverCap: boolean;
};

/**
 * Returns why a signup must not be rewarded, or null. A shared address counts only between two browsers, since a
 * merchant's server has one address for all, and only without two device ids to compare.
 */
export function blockReasonOf(referrer: ReferrerTraits, signup: SignupTraits): BlockReason | null {
  if (signup.externalUserId === referrer.externalUserId) return 'same_user';
  if (isOneMailbox(referrer.emails, signup.email)) return 'same_email';
  if (signup.deviceId !== null && referrer.deviceIds.includes(signup.deviceId)) return 'same_device';
  if (signup.isReferrersVisitor) return 'same_visitor';
  const devicesTell = signup.deviceId !== null && referrer.deviceIds.length > 0;
  const sameAddress =
    referrer.addressHash !== null &&
    signup.addressHash !== null &&
    referrer.addressHash.equals(signup.addressHash);
  if (sameAddress && !devicesTell) return 'same_ip';
  if (signup.isDuplicate) return 'duplicate_referee';
  if (signup.isMutual) return 'mutual_referral';
  if (referrer.status === 'suspended') return 'suspended';
  return signup.isOverCap ? 'cap' : null;
}

/** Returns whether an address reaches one of the mailboxes, ignoring plus tags and Gmail's dots. */
export function isOneMailbox(emails: readonly string[], email: string | null): boolean {
  if (email === null) return false;
  const own = selfReferralEmail(email);
  return emails.some((other) => selfReferralEmail(other) === own);
}
