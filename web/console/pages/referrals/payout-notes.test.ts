import { expect, test } from 'vitest';
import { notesOf } from './payout-notes.ts';

test('the headers of a payout file tell what is not in it', () => {
  const headers = new Headers({
    'x-left-out': '1000;export_id="019a", 1;export_id="019b"',
    'x-held-back': 'below_minimum=12, below_one_unit=1, payout_name=3',
    'x-rounded': '1',
  });
  expect(notesOf(headers)).toEqual([
    '1,000 referrers wait for the open file 019a.',
    '1 referrer waits for the open file 019b.',
    '3 referrers are left out until a payout name of two words is set.',
    '1 balance is left out: PayPal takes no decimals in this currency, and it is less than 1.',
    '1 line is rounded down to whole units, and the rest stays in the balance.',
  ]);
  expect(notesOf(new Headers())).toEqual([]);
});
