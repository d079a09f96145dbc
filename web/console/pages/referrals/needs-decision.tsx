import { Alert, Anchor, List } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/queries.ts';
import { plural } from '../../formats.ts';
import type { Eligible, Signups } from './responses.ts';
import { useViewState } from './view-state.ts';

/** Signups shown as a number up to here. */
const MOST = 100;

/** Lists what waits for a person: held signups and payouts that an address change holds back. Nothing if nothing does. */
export function NeedsDecision() {
  const view = useViewState();
  const held = useApi<Signups>('/signups', { status: 'held', limit: MOST }).data;
  const eligible = useApi<Eligible>('/payouts/eligible', { limit: MOST }).data;
  const count = held?.signups.length ?? 0;
  const changed = eligible?.balances.filter((one) => one.held_back === 'payout_method_changed').length ?? 0;
  const lines: { key: string; show: ReactNode }[] = [];
  if (count > 0) {
    const text = held?.next_cursor ? `${count}+ signups` : plural(count, 'signup', 'signups');
    lines.push({
      key: 'held',
      show: (
        <Anchor component="button" size="sm" onClick={() => view.show('signups', { result: 'held' })}>
          {text} to review
        </Anchor>
      ),
    });
  }
  if (changed > 0) {
    lines.push({
      key: 'changed',
      show: (
        <Anchor component="button" size="sm" onClick={() => view.show('payouts')}>
          {plural(changed, 'payout', 'payouts')} held back: the payout address was changed on a page
        </Anchor>
      ),
    });
  }
  if (lines.length === 0) return null;
  return (
    <Alert color="yellow" variant="outline" title="Needs a decision" mb="md">
      <List size="sm" listStyleType="none">
        {lines.map(({ key, show }) => (
          <List.Item key={key}>{show}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
