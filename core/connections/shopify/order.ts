import { decimalAt, maybeDecimal } from '../amounts.ts';
import { buyerOf } from '../buyer.ts';
import type { Fact, Money } from '../connector.ts';
import { type Json, maybeObject, maybeText, objectsIn, textAt } from '../fields.ts';
import { instantAt, maybeInstant } from '../instants.ts';
import { INVOICE } from '../payment-parts.ts';

/**
 * Reads `orders/paid`. Amounts are decimals in the store's currency. Source: "The Order resource",
 * https://shopify.dev/docs/api/admin-rest/latest/resources/order. It does not tell orders of a subscription from
 * others, so none counts as a renewal.
 */
export function orderFacts(order: Json): Fact[] {
  const id = textAt(order, 'id');
  const paidAt = maybeInstant(order, 'processed_at') ?? instantAt(order, 'created_at');
  // An edited order is paid again later.
  const at = maybeInstant(order, 'updated_at') ?? paidAt;
  const customer = maybeText(maybeObject(order, 'customer'), 'id');
  const buyer = buyerOf(attributesOf(order));
  const currency = textAt(order, 'currency');
  const total = decimalAt(order, 'total_price', currency);
  const pair = pairOf(maybeObject(order, 'total_price_set'));
  return [
    ...(customer && buyer ? [{ kind: 'tie', customer, subscription: null, ...buyer } as const] : []),
    {
      kind: 'payment',
      refs: [id],
      customer,
      subscription: null,
      part: `order:${id}`,
      is: {
        at,
        ...(buyer && { buyer }),
        email: maybeText(order, 'email') ?? maybeText(maybeObject(order, 'customer'), 'email'),
        ...(pair && { pair }),
        codes: objectsIn(order.discount_codes).flatMap((discount) => maybeText(discount, 'code') ?? []),
        sale: {
          precedence: INVOICE,
          ref: id,
          amountMinor: total.minor,
          commissionableMinor: goodsOf(order, total),
          currency: total.currency,
          paidAt,
          cycle: 'none',
        },
      },
    },
  ];
}

/** The total in the buyer's currency and in the store's: refunds are told in the buyer's. */
function pairOf(set: Json | null): [Money, Money] | null {
  const [shown, shop] = [maybeObject(set, 'presentment_money'), maybeObject(set, 'shop_money')];
  if (!shown || !shop) return null;
  const moneyOf = (money: Json) => decimalAt(money, 'amount', textAt(money, 'currency_code'));
  return [moneyOf(shown), moneyOf(shop)];
}

/** Attributes of the cart: a list of names and values. */
function attributesOf(order: Json): Json {
  return Object.fromEntries(
    objectsIn(order.note_attributes).flatMap((attribute) => {
      const name = maybeText(attribute, 'name');
      return name === null ? [] : [[name, attribute.value]];
    }),
  );
}

/** What was paid for goods: without tax, shipping, duties and tips. */
function goodsOf(order: Json, { minor, currency }: Money): number {
  const tax = maybeDecimal(order, 'total_tax', currency);
  const shipping = maybeObject(maybeObject(order, 'total_shipping_price_set'), 'shop_money');
  // The shipping includes its tax where prices include taxes, and then `total_tax` has that part too.
  const freight = maybeDecimal(shipping, 'amount', currency);
  const freightTax = order.taxes_included === true ? freightTaxOf(order, currency) : 0;
  const tip = maybeDecimal(order, 'total_tip_received', currency);
  const duties = maybeObject(maybeObject(order, 'original_total_duties_set'), 'shop_money');
  const rest = minor - tax - freight + freightTax - tip - maybeDecimal(duties, 'amount', currency);
  return Math.min(minor, Math.max(0, rest));
}

function freightTaxOf(order: Json, currency: string): number {
  const lines = objectsIn(order.shipping_lines).flatMap((line) => objectsIn(line.tax_lines));
  return lines.reduce((sum, line) => sum + decimalAt(line, 'price', currency).minor, 0);
}
