import type { PromotionCodes } from './promotion-codes.ts';
import type { Provider } from './providers.ts';

/**
 * What a billing provider's connector is: the check of its signatures, and the translation of its events into facts
 * that know no provider. A connector is pure; see the README.
 */
export type Connector = {
  provider: Provider;
  /** The types of events that are understood: those to select at the provider. */
  eventTypes: readonly string[];
  /**
   * Checks who sent a body.
   *
   * @throws {SignatureProblem} when the signature is missing, wrong or too old
   */
  verify(delivery: Delivery, secret: string, now: Date): Promise<void>;
  /**
   * Reads what every event says, whatever its type.
   *
   * @param body as {@link import('./exact-json.ts').parseExact} parsed it
   * @throws {EventProblem} when the body is not an event of the provider
   */
  envelope(body: unknown, headers: DeliveryHeaders): Envelope;
  /**
   * Reads what an event says of customers and payments.
   *
   * @throws {EventProblem} when a field that the type has is missing or of another type
   */
  read(body: unknown, envelope: Pick<Envelope, 'type' | 'eventId'>): Reading;
  /** Asks the provider what a payment belongs to, where its events do not tell. Left out: they always tell. */
  lookUp?: Lookup;
  /** Makes discount codes at the provider. Left out: they are made by hand. */
  promotionCodes?: PromotionCodes;
};

/** What the events of a payment did not tell. */
export type Question = {
  /** Ids of the payment. */
  refs: readonly string[];
  /** The payment may belong to an invoice. */
  isUnsure: boolean;
  /** Whether anything was paid for this subscription before; null: not asked. */
  earlierOf: { subscription: string; paidAt: number } | null;
  /** Ids of discount codes whose texts are not known. */
  codes: readonly string[];
};

/**
 * Asks a provider's API about a payment, with the connection's restricted key.
 *
 * @returns what the provider knows; the text of a code that it does not know is empty
 */
export type Lookup = (
  question: Question,
  api: { key: string; apiBase: string; now: Date },
) => Promise<readonly (PaymentFact | CodeFact)[]>;

export type DeliveryHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type Delivery = { body: Buffer; headers: DeliveryHeaders };

export type Envelope = {
  /** Unique in the connection: an event that is sent twice has it twice. */
  eventId: string;
  type: string;
  /** Events of one key are processed in the order of arrival; null: of no customer. */
  customer: string | null;
};

/**
 * What an event says. `mode` is null where the provider does not tell. `account` is set when the event is of another
 * account than the connected one.
 */
export type Reading = { at: Date; mode: 'live' | 'test' | null; account?: string | null } & (
  | { facts: readonly Fact[] }
  | { ignored: string }
);

export type Fact = TieFact | CustomerFact | CodeFact | PaymentFact;

/**
 * The email of a customer of the provider, or of the account that the customer has there. `isChange`: it replaces
 * another one, which is `former` where the event tells it.
 */
export type CustomerFact = {
  kind: 'customer';
  customer: string;
  email: string;
  isChange?: boolean;
  former?: string;
};

/** Who pays at the provider: its customer, an account that the customer has there, and a subscription. */
export type Payer = { customer: string | null; account?: string | null; subscription: string | null };

/** Ties the payer at the provider to a buyer. It has at least one name of the buyer, and one id of the payer. */
export type TieFact = Buyer & Payer & { kind: 'tie' };

/** The names of a buyer. */
export type Buyer = {
  externalUserId: string | null;
  visitorId: string | null;
  /** A user or a visitor: the field does not say which. */
  reference: string | null;
};

/** The text of a discount code; empty: the provider has none. */
export type CodeFact = { kind: 'code'; codeId: string; code: string };

/** A part of what is known of a payment. See `payment-parts.ts`. */
export type PaymentFact = Payer & {
  kind: 'payment';
  /**
   * The payment's ids at the provider, as many as the event names: they all mean one payment. With the provider's name
   * in front each is an order id of it; see `orderIdOf`.
   */
  refs: readonly string[];
  /** Name of the part: a later event about the same object replaces it. */
  part: string;
  is: Part;
};

/** An amount of money in minor units, as ISO 4217 counts them. */
export type Money = { minor: number; currency: string };

/** Refunded money, in minor units. `goods`: the part without tax and shipping, where the provider tells it. */
export type Refunded = Money & { goods?: number };

export type Part = {
  /**
   * The event's own time, in milliseconds. One of two parts with the same name counts: the one with the higher `rank`,
   * else the later one, else the one with the higher amount.
   */
  at: number;
  rank?: number;
  /** The names that the event gives the buyer. */
  buyer?: Buyer;
  email?: string | null;
  /** Ids or texts of the discount codes. */
  codes?: readonly string[];
  /** What was paid. */
  sale?: PartSale;
  /** How much of the paid total earns commission, where the sale itself does not say so. Minor units of `total`. */
  share?: { totalMinor: number; commissionableMinor: number };
  /** Whether the payment belongs to an invoice. `unsure`: the event does not tell. */
  standing?: 'invoice' | 'alone' | 'unsure';
  /** Whether the provider knows an earlier paid invoice of the subscription. */
  hasEarlier?: boolean;
  /** The sum of the refunds of one charge. */
  refunded?: Refunded;
  /** A failed or canceled refund. It lowers the sum in the part `of`, unless that part is newer. */
  failedRefund?: Refunded & { of: string | null };
  /**
   * How much of the refunds in other parts is goods. `of`: counts only while the part of this name refunds something.
   */
  split?: Required<Refunded> & { of?: string };
  /** One amount in two currencies, such as the buyer's and the store's: other amounts are converted by it. */
  pair?: readonly [Money, Money];
  /** `taken`: the provider has withdrawn the money; it comes back when the dispute is won. */
  dispute?: Money & { state: 'inquiry' | 'taken' | 'won' };
};

export type PartSale = {
  /** Of several sales of one payment the one of the highest precedence counts. */
  precedence: number;
  /** Order id without the provider's name; see `orderIdOf`. */
  ref: string;
  amountMinor: number;
  commissionableMinor: number;
  currency: string;
  /** Milliseconds. */
  paidAt: number;
  /** `first`: of a subscription. `renewal`: a later one, unless the first was free. `none`: no subscription. */
  cycle: 'first' | 'renewal' | 'none';
  /** A discount or the customer's balance covered the price. So a payment of 0 does not mean a trial. */
  isPriced?: boolean;
};

/** A signature that is missing, wrong, or too old. */
export class SignatureProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SignatureProblem';
  }
}

/** An event that can't be read. Its message names the field. */
export class EventProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EventProblem';
  }
}
