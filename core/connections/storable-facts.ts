import { INSTANT_END_NANOS, NANOS_PER_MILLI } from '../time/timestamps.ts';
import { EventProblem, type Fact } from './connector.ts';

/** Ids of users and orders, which have at most 200 characters, are the provider's name and one of these. */
const ID_LIMIT = 180;
const CODE_LIMIT = 255;
const END_MS = Number(INSTANT_END_NANOS / NANOS_PER_MILLI);

/**
 * Checks times and ids in what a provider says. Text is cleaned where it is read, see `fields.ts`.
 *
 * @param at when it was said, in milliseconds
 * @throws {EventProblem} when PostgreSQL can't store one
 */
export function requireStorable(at: number, facts: readonly Fact[]): void {
  requireYear('the time of the event', at);
  for (const fact of facts) {
    if (fact.kind === 'code') {
      requireLength('the id of the code', fact.codeId, CODE_LIMIT);
      continue;
    }
    requireLength('the id of the customer', fact.customer, ID_LIMIT);
    if (fact.kind === 'customer') continue;
    requireLength('the id of the account', fact.account, ID_LIMIT);
    requireLength('the id of the subscription', fact.subscription, ID_LIMIT);
    if (fact.kind === 'tie') continue;
    const { at: partAt, sale, codes = [] } = fact.is;
    for (const ref of fact.refs) requireLength('the id of the payment', ref, ID_LIMIT);
    for (const code of codes) requireLength('a code', code, CODE_LIMIT);
    requireYear('the time of the event', partAt);
    if (!sale) continue;
    requireLength('the id of the payment', sale.ref, ID_LIMIT);
    requireYear('the time of the payment', sale.paidAt);
  }
}

function requireYear(name: string, ms: number): void {
  if (!(ms >= 0 && ms < END_MS)) throw new EventProblem(`${name} must be in the years 1970 to 9999`);
}

function requireLength(name: string, text: string | null | undefined, most: number): void {
  if (text && text.length > most) throw new EventProblem(`${name} must be at most ${most} characters`);
}
