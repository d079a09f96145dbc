import { splitByLargestRemainder } from '../../core/money/money.ts';
import type { AttributionModel } from '../../sql/workspaces/workspaces.ts';
import type { ModelRow } from './model.ts';

/** A plain model of attribution, without SQL. Times are microseconds. */

export type ModelIdentify = { micros: number; visitor: string; email: string };
export type ModelOrder = {
  micros: number;
  orderId: string;
  visitor: string | null;
  email: string | null;
  amountMinor: number;
};

export type ModelEvents = {
  clicks: readonly ModelRow[];
  identifies: readonly ModelIdentify[];
  orders: readonly ModelOrder[];
  model: AttributionModel;
  /** Days. */
  window: number;
};

const DAY = 86_400_000_000;

/** Returns the shares of orders and of leads: the first identifies of their persons. */
export function sharesOfEvents(events: ModelEvents): ModelRow[] {
  const { identifies, orders } = events;
  const leads = identifies.filter(
    (one) =>
      !identifies.some(
        (other) => other.micros < one.micros && (other.visitor === one.visitor || other.email === one.email),
      ),
  );
  return [
    ...orders.flatMap((order) => sharesOf(events, order, order.amountMinor)),
    ...leads.flatMap((lead) => sharesOf(events, lead, null)),
  ];
}

type Person = { micros: number; visitor: string | null; email: string | null };

/** The visitors of a person: one hop by email. */
function visitorsOf({ identifies }: ModelEvents, { visitor, email }: Person): Set<string> {
  const emails = new Set(identifies.filter((one) => one.visitor === visitor).map((one) => one.email));
  if (email !== null) emails.add(email);
  const visitors = new Set(identifies.filter((one) => emails.has(one.email)).map((one) => one.visitor));
  if (visitor !== null) visitors.add(visitor);
  return visitors;
}

/** @param amountMinor null: a lead */
function sharesOf(events: ModelEvents, person: Person, amountMinor: number | null): ModelRow[] {
  const { micros } = person;
  const visitors = visitorsOf(events, person);
  const clicks = events.clicks
    .filter(
      ({ click, micros: at }) =>
        click !== undefined &&
        !click.isBot &&
        visitors.has(click.visitor) &&
        at < micros &&
        at >= micros - events.window * DAY,
    )
    .sort((a, b) => a.micros - b.micros);
  const credited =
    events.model === 'linear'
      ? clicks
      : events.model === 'first_click'
        ? clicks.slice(0, 1)
        : clicks.slice(-1);
  const byLink = Object.values(
    Object.groupBy(credited, ({ link, columns }) => `${link}/${columns.channel}`),
  ).map((some = []) => some);
  const sums = credited.length === 0 ? [] : split(amountMinor ?? 0, byLink);
  return byLink.flatMap((ofLink, n) => {
    const alike = Object.values(Object.groupBy(ofLink, ({ columns }) => JSON.stringify(columns))).map(
      (some = []) => some,
    );
    const amounts = split(sums[n] ?? 0, alike);
    return alike.flatMap((some, m): ModelRow[] => {
      const [first] = some;
      if (!first) return [];
      const share = some.length / credited.length;
      return [
        {
          micros,
          link: first.link,
          columns: first.columns,
          share: {
            orders: amountMinor === null ? 0 : share,
            leads: amountMinor === null ? share : 0,
            amountMinor: amounts[m] ?? 0,
          },
        },
      ];
    });
  });
}

const split = (total: number, groups: readonly (readonly unknown[])[]) =>
  splitByLargestRemainder(
    total,
    groups.map((group) => group.length),
  );
