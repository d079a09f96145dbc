import { Alert, Button, Drawer, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { methodName } from '../../../../core/referrals/payout-method-names.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { formatCount, formatDate, formatInstant, formatMoney } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Figure } from '../../parts/figure.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { FigureCell, ScrollTable } from '../../parts/scroll-table.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { ConfirmAddressButton } from './confirm-address-button.tsx';
import { EnrollmentActions } from './enrollment-actions.tsx';
import { EnrollmentCoupons } from './enrollment-coupons.tsx';
import { EnrollmentHistory } from './enrollment-history.tsx';
import { EnrollmentStatus, StatusButton } from './enrollment-status.tsx';
import { useGroups, usePrograms } from './filters.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment } from './responses.ts';
import { useViewState } from './view-state.ts';
import { totalsText } from './words.ts';

/** Details of a referrer. */
export function EnrollmentDrawer({ partnerId, close }: { partnerId: string; close: () => void }) {
  useFocusBack();
  const enrollment = useApi<Enrollment>(`/enrollments/${partnerId}`);
  return (
    <Drawer
      opened
      onClose={close}
      position="right"
      size="lg"
      title={enrollment.data ? `Referrer ${referrerName(enrollment.data)}` : 'Referrer'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryView query={enrollment} lines={8}>
        {(data) => <Details enrollment={data} close={close} />}
      </QueryView>
    </Drawer>
  );
}

function Details({ enrollment, close }: { enrollment: Enrollment; close: () => void }) {
  const view = useViewState();
  const { workspace } = useSession();
  const { totals, balances, payout_method: method } = enrollment;
  const program = usePrograms().find(({ id }) => id === enrollment.program_id);
  const group = useGroups().find(({ id }) => id === enrollment.group_id);
  const currency = program?.currency ?? workspace.currency;
  const cash = Object.entries(balances.cash);
  const credits = Object.entries(balances.credits);
  const facts: [string, string][] = [
    ['Program', program?.name ?? ''],
    ...(group ? [['Group', group.name] satisfies [string, string]] : []),
    ['User id', enrollment.external_user_id],
    ['Email', enrollment.email ?? 'Unknown'],
    ['Name', enrollment.name ?? 'Unknown'],
    ['Plan', enrollment.tier === 'paid' ? 'Paid' : 'Free'],
    ['Earns as', enrollment.reward_mode === 'affiliate' ? 'Affiliate' : 'Referrer'],
    ['Payout method', method ? `${methodName(method.method)}, ${method.email}` : 'Not set'],
    ['Own rate', ownRate(enrollment, program?.currency ?? '')],
    ['Since', formatInstant(enrollment.created_at)],
  ];
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <EnrollmentStatus status={enrollment.status} />
        <StatusButton enrollment={enrollment} />
      </Group>
      {enrollment.payout_held_until !== null && (
        <Alert
          color="yellow"
          variant="outline"
          title={`New address: payable from ${formatDate(enrollment.payout_held_until)}`}
        >
          <Stack gap="xs" align="start">
            <Text size="sm">
              A page changed the payout address. Payout files leave the balance out until{' '}
              {formatInstant(enrollment.payout_held_until)}, unless you confirm it.
            </Text>
            <ConfirmAddressButton referrer={enrollment} />
          </Stack>
        </Alert>
      )}
      <EnrollmentActions enrollment={enrollment} currency={program?.currency ?? ''} onDeleted={close} />
      {enrollment.referral_link === null ? (
        <Text size="sm">The referral link was deleted. Enroll the user again to create a new one.</Text>
      ) : (
        <Group gap="xs" wrap="nowrap">
          <Text style={{ overflowWrap: 'anywhere' }}>{enrollment.referral_link}</Text>
          <CopyButton value={enrollment.referral_link} what="the referral link" />
        </Group>
      )}
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs">
        <Figure label="Clicks" value={formatCount(totals.clicks)} />
        <Figure
          label="Signups"
          value={formatCount(totals.signups)}
          note={totals.blocked_signups > 0 && `${formatCount(totals.blocked_signups)} blocked`}
        />
        <Figure label="Purchases" value={formatCount(totals.purchases)} />
        <Figure label="Revenue" value={totalsText(totals.revenue, currency)} />
        <Figure label="Earnings per click" value={totalsText(totals.epc, currency)} />
        <Figure label="Average LTV" value={totalsText(totals.average_lifetime_value, currency)} />
      </SimpleGrid>
      <EnrollmentCoupons enrollment={enrollment} />
      <section aria-labelledby="balances">
        <Title order={2} size="h5" id="balances" mb="xs">
          Balances
        </Title>
        {cash.length + credits.length === 0 && <Text size="sm">Nothing earned yet.</Text>}
        {cash.length > 0 && (
          <ScrollTable
            label="Money"
            minWidth={340}
            columns={['Currency', { figure: 'On hold' }, { figure: 'Ready to pay' }, { figure: 'Paid' }]}
          >
            <Table.Tbody>
              {cash.map(([currency, { pending, eligible, paid }]) => (
                <Table.Tr key={currency}>
                  <Table.Td>{currency.toUpperCase()}</Table.Td>
                  <FigureCell>{formatMoney(pending, currency)}</FigureCell>
                  <FigureCell>{formatMoney(eligible, currency)}</FigureCell>
                  <FigureCell>{formatMoney(paid, currency)}</FigureCell>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
        )}
        {credits.length > 0 && (
          <ScrollTable
            label="Credits"
            minWidth={340}
            columns={['Credits', { figure: 'Earned' }, { figure: 'Delivered' }, { figure: 'Not delivered' }]}
          >
            <Table.Tbody>
              {credits.map(([kind, { earned, delivered, pending }]) => (
                <Table.Tr key={kind}>
                  <Table.Td>{kind}</Table.Td>
                  <FigureCell>{formatCount(earned)}</FigureCell>
                  <FigureCell>{formatCount(delivered)}</FigureCell>
                  <FigureCell>{formatCount(pending)}</FigureCell>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </ScrollTable>
        )}
      </section>
      <Table layout="fixed" aria-label="Referrer details">
        <Table.Tbody>
          {facts.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w={120}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          onClick={() => view.show('ledger', { user: enrollment.external_user_id })}
        >
          Ledger entries
        </Button>
        <Button
          variant="default"
          size="xs"
          onClick={() => view.show('signups', { by: enrollment.partner_id })}
        >
          Signups
        </Button>
        <Button
          variant="default"
          size="xs"
          onClick={() => view.show('purchases', { by: enrollment.partner_id })}
        >
          Purchases
        </Button>
        <Button
          variant="default"
          size="xs"
          onClick={() => view.show('commissions', { by: enrollment.partner_id })}
        >
          Commissions
        </Button>
      </Group>
      <EnrollmentHistory partnerId={enrollment.partner_id} />
    </Stack>
  );
}

function ownRate({ commission_rate: rate, commission_type: type }: Enrollment, currency: string): string {
  if (rate === null) return 'None';
  return type === 'flat' ? `${formatMoney(rate, currency)} for each sale` : `${rate} %`;
}
