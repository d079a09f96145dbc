/** Kinds of files: referrers, the customers that they referred, or their commissions. */
export const KINDS = ['partners', 'customers', 'commissions'] as const;
export type Kind = (typeof KINDS)[number];

/**
 * Fields of rows. Those that begin with `partner` identify the referrer, who in a file of partners is the subject of
 * the row.
 */
const FIELDS = [
  'partner_id',
  'partner_email',
  'partner_code',
  'user_id',
  'name',
  'first_name',
  'last_name',
  'codes',
  'coupons',
  'paypal_email',
  'wise_email',
  'state',
  'customer_id',
  'customer_key',
  'customer_email',
  'created_at',
  'commission_id',
  'amount',
  'amount_minor',
  'currency',
  'unit',
  'status',
  'due_at',
] as const;
export type Field = (typeof FIELDS)[number];

/** Outcome of a commission in the import. `over`: paid, refunded or refused, so that none of it is payable. */
export type Fate = 'pending' | 'eligible' | 'over';

/**
 * The format of a referral program's export. Columns are compared without case, blanks and punctuation: `Affiliate
 * Email` is `affiliate_email`.
 */
export type ReferralFormat = {
  name: string;
  /** Names of the columns of each field in each kind of file. The first one with a value counts. */
  columns: Record<Kind, Partial<Record<Field, readonly string[]>>>;
  /** Names of columns that the program documents for its CSV or its API. Left out: all, as in our own files. */
  documented?: readonly string[];
  /** Columns that a file of customers has when its rows are referrers too, each beside a customer. */
  alsoPartners?: readonly string[];
  /** Columns whose presence identifies the kind of a file, checked in this order. */
  marks: readonly { kind: Kind; column: string }[];
  /** What happens to a row, by its status in lower case. */
  fates: Readonly<Record<string, Fate>>;
  /**
   * Whether whole numbers in `amount` are minor units, as in the program's API. Numbers with a point are major units.
   */
  wholeIsMinor: boolean;
};

/** Returns the names of columns that are assumed, because the program does not document them. */
export function assumedColumns({ columns, documented }: ReferralFormat): string[] {
  if (documented === undefined) return [];
  const names = KINDS.flatMap((kind) => Object.values(columns[kind]).flat());
  return [...new Set(names)].filter((name) => !documented.includes(name));
}
