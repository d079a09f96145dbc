import { Tabs } from '@mantine/core';
import { PageHeader } from '../../parts/page-header.tsx';
import { CommissionsTab } from './commissions-tab.tsx';
import { CouponsTab } from './coupons-tab.tsx';
import { EnrollmentsTab } from './enrollments-tab.tsx';
import { FulfilmentTab } from './fulfilment-tab.tsx';
import { LedgerTab } from './ledger-tab.tsx';
import { NeedsDecision } from './needs-decision.tsx';
import { PayoutsTab } from './payouts-tab.tsx';
import { ProgramsTab } from './programs-tab.tsx';
import { PurchasesTab } from './purchases-tab.tsx';
import { SignupsTab } from './signups-tab.tsx';
import { useViewState } from './view-state.ts';

const TABS = [
  { key: 'programs', title: 'Programs', Content: ProgramsTab },
  { key: 'enrollments', title: 'Enrollments', Content: EnrollmentsTab },
  { key: 'coupons', title: 'Coupons', Content: CouponsTab },
  { key: 'ledger', title: 'Ledger', Content: LedgerTab },
  { key: 'signups', title: 'Signups', Content: SignupsTab },
  { key: 'purchases', title: 'Purchases', Content: PurchasesTab },
  { key: 'commissions', title: 'Commissions', Content: CommissionsTab },
  { key: 'fulfilment', title: 'Fulfilment', Content: FulfilmentTab },
  { key: 'payouts', title: 'Payouts', Content: PayoutsTab },
] as const;

/** Referral programs: terms, referrers, rewards and payouts. The tab is in the URL. */
export default function ReferralsPage() {
  const view = useViewState();
  const shown = TABS.find(({ key }) => key === view.get('tab')) ?? TABS[0];
  return (
    <>
      <PageHeader title="Referrals" />
      <NeedsDecision />
      <Tabs value={shown.key} onChange={(key) => key && view.show(key)} keepMounted={false}>
        <Tabs.List mb="md">
          {TABS.map(({ key, title }) => (
            <Tabs.Tab key={key} value={key}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map(({ key, Content }) => (
          <Tabs.Panel key={key} value={key}>
            <Content />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}
