import { Alert, List } from '@mantine/core';
import { plural } from '../../formats.ts';
import { TextPress } from '../../parts/text-press.tsx';
import type { Summary } from './responses.ts';
import { useViewState, type ViewState } from './view-state.ts';

/** What waits for a person, each line leading to its place. Nothing if nothing does. */
export function NeedsDecision({ decisions }: { decisions: Summary['decisions'] }) {
  const view = useViewState();
  const lines = LINES.filter(({ count }) => decisions[count] > 0);
  if (lines.length === 0) return null;
  return (
    <Alert color="yellow" variant="outline" role="region" title="Needs a decision">
      <List size="sm" listStyleType="none">
        {lines.map(({ count, words, go }) => (
          <List.Item key={count}>
            <TextPress onClick={() => go(view, decisions)}>{words(decisions[count])}</TextPress>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

type Decisions = Summary['decisions'];
type Count = Exclude<keyof Decisions, 'failed_payout_file'>;
type Line = {
  count: Count;
  words: (count: number) => string;
  go: (view: ViewState, decisions: Decisions) => void;
};

/** Parameters of the program that the page shows, for a place that can be filtered by it. */
const programOf = (view: ViewState): Record<string, string> => {
  const program = view.get('program');
  return program === null ? {} : { program };
};

/** The most urgent first: money that could not be paid, then people who wait, then what only costs. */
const LINES: Line[] = [
  {
    count: 'failed_payouts',
    words: (count) => `${plural(count, 'payout', 'payouts')} failed: correct the address, then pay again`,
    go: (view, { failed_payout_file: file }) => view.show('payouts', file === null ? {} : { file }),
  },
  {
    count: 'failed_credit_deliveries',
    words: (count) => `${plural(count, 'credit', 'credits')} could not be delivered`,
    go: (view) => view.show('fulfilment'),
  },
  {
    count: 'held_signups',
    words: (count) => `${plural(count, 'signup', 'signups')} to review`,
    go: (view) => view.show('signups', { ...programOf(view), result: 'held' }),
  },
  {
    count: 'changed_payout_methods',
    words: (count) =>
      `${plural(count, 'payout', 'payouts')} held back: the payout address was changed on a page`,
    go: (view) => view.show('payouts', programOf(view)),
  },
  {
    count: 'missing_payout_methods',
    words: (count) => `${plural(count, 'payout', 'payouts')} held back: the referrer has no payout address`,
    go: (view) => view.show('payouts', programOf(view)),
  },
  {
    count: 'purchases_without_rate',
    words: (count) => `${plural(count, 'purchase', 'purchases')} earned nothing: no exchange rate is set`,
    go: (view) => view.show('purchases', { ...programOf(view), result: 'no-rate' }),
  },
  {
    count: 'unmatched_purchases',
    words: (count) => `${plural(count, 'purchase', 'purchases')} without a referrer`,
    go: (view) => view.show('purchases', { result: 'unmatched' }),
  },
];
