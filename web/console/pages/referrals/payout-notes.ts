import { plural } from '../../formats.ts';

/** Returns what the response headers say about payments that are not in the file. */
export function notesOf(headers: Pick<Headers, 'get'>): string[] {
  const leftOut = (headers.get('x-left-out') ?? '').matchAll(/(\d+);export_id="([^"]+)"/g);
  const heldBack = (reason: string): number =>
    Number(new RegExp(`\\b${reason}=(\\d+)`).exec(headers.get('x-held-back') ?? '')?.[1] ?? 0);
  const named = heldBack('payout_name');
  const small = heldBack('below_one_unit');
  const rounded = headers.get('x-rounded');
  return [
    ...[...leftOut].map(
      ([, count, file]) =>
        `${plural(Number(count), 'referrer waits', 'referrers wait')} for the open file ${file}.`,
    ),
    ...(named === 0
      ? []
      : [
          `${plural(named, 'referrer is', 'referrers are')} left out until a payout name of two words is set.`,
        ]),
    ...(small === 0
      ? []
      : [
          `${plural(small, 'balance is', 'balances are')} left out: PayPal takes no decimals in this currency, and it is less than 1.`,
        ]),
    ...(rounded === null
      ? []
      : [
          `${plural(Number(rounded), 'line is', 'lines are')} rounded down to whole units, and the rest stays in the balance.`,
        ]),
  ];
}
