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

/**
 * Accepted terms as the ledger's export and its hash chain show them. The canonical JSON begins with
 * `{"acceptance":`, that of an entry with `{"account":`: neither can be taken for the other.
 */
export type AcceptanceLine = {
  /** The id. */
  acceptance: string;
  accepted_at: string;
  application_id: string;
  /** Null: accepted with the application. */
  partner_id: string | null;
  program_id: string;
  terms_number: number;
  terms_version: string;
  /** SHA-256 (hex) of the text, or of the address of the terms. */
  terms_sha256: string;
};

export type ChainLine = LedgerLine | AcceptanceLine;

/** The hash before the first line of a chain. */
export const FIRST_HASH: Buffer = Buffer.alloc(32);

/**
 * Returns the hash of a line: SHA-256 of the hash before it as hex, a line feed, and the line's canonical JSON
 * (RFC 8785).
 */
export function chainedHash(before: Buffer, line: ChainLine): Buffer {
  return createHash('sha256')
    .update(`${before.toString('hex')}\n${canonicalize(line)}`)
    .digest();
}
