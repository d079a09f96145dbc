import { plural } from '../../formats.ts';

/** Returns what the headers say that is not in the file. */
export function notesOf(headers: Pick<Headers, 'get'>): string[] {
  const leftOut = (headers.get('x-left-out') ?? '').matchAll(/(\d+);export_id="([^"]+)"/g);
  const named = /payout_name=(\d+)/.exec(headers.get('x-held-back') ?? '')?.[1];
  const rounded = headers.get('x-rounded');
  return [
    ...[...leftOut].map(
      ([, count, file]) =>
        `${plural(Number(count), 'referrer waits', 'referrers wait')} for the open file ${file}.`,
    ),
    ...(named === undefined
      ? []
      : [
          `${plural(Number(named), 'referrer is', 'referrers are')} left out until a payout name of two words is set.`,
        ]),
    ...(rounded === null
      ? []
      : [
          `${plural(Number(rounded), 'line is', 'lines are')} rounded down to whole units, and the rest stays in the balance.`,
        ]),
  ];
}
