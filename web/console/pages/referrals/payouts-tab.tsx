import { Stack } from '@mantine/core';
import { EligibleBalances } from './eligible-balances.tsx';
import { PayoutFiles } from './payout-files.tsx';

/** What can be paid now, and the files of what was to be paid. */
export function PayoutsTab() {
  return (
    <Stack gap="xl">
      <EligibleBalances />
      <PayoutFiles />
    </Stack>
  );
}
