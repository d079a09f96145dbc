import { Stack } from '@mantine/core';
import { EligibleBalances } from './eligible-balances.tsx';
import { PayoutFiles } from './payout-files.tsx';

/** Payable balances and payout files. */
export function PayoutsTab() {
  return (
    <Stack gap="xl">
      <EligibleBalances />
      <PayoutFiles />
    </Stack>
  );
}
