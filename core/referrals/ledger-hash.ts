import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** An entry as the ledger's export and its hash chain show it. */
export type LedgerLine = {
  id: number;
  created_at: string;
  partner_id: string;
  external_user_id: string;
  account: string;
  /** A currency, or a kind of credit. */
  unit: string;
  /** Minor units of the currency, or hundredths of a credit: an integer, so that any language hashes it alike. */
  amount_minor: number;
  cause: string;
  grant_id: number | null;
  commission_id: string | null;
  refund_id: string | null;
  payout_line_id: string | null;
};

/** The hash before the first entry of a chain. */
export const FIRST_HASH: Buffer = Buffer.alloc(32);

/**
 * Returns the hash of an entry: SHA-256 of the hash before it as hex, a line feed, and the entry's canonical JSON
 * (RFC 8785).
 */
export function chainedHash(before: Buffer, line: LedgerLine): Buffer {
  return createHash('sha256')
    .update(`${before.toString('hex')}\n${canonicalize(line)}`)
    .digest();
}
