import { Button, Tabs } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { TabLine } from '../../parts/tab-line.tsx';
import { AddReferrerDialog } from './add-referrer-dialog.tsx';
import { ApplicationsTab } from './applications-tab.tsx';
import { CommissionsTab } from './commissions-tab.tsx';
import { CouponsTab } from './coupons-tab.tsx';
import { EnrollmentsTab } from './enrollments-tab.tsx';
import { FulfilmentTab } from './fulfilment-tab.tsx';
import { LedgerTab } from './ledger-tab.tsx';
import { MessagesTab } from './messages-tab.tsx';
import { MonthSkeleton, MonthTab } from './month-tab.tsx';
import { PayoutsTab } from './payouts-tab.tsx';
import { ProgramDialog } from './program-dialog.tsx';
import { ProgramsSkeleton, ProgramsTab } from './programs-tab.tsx';
import { PurchasesTab } from './purchases-tab.tsx';
import type { Programs } from './responses.ts';
import { SignupsTab } from './signups-tab.tsx';
import { useViewState } from './view-state.ts';

/** What the page looks like with data. */
const EXAMPLE = [
  ['Ada Lovelace', '9 signups', '$184.00'],
  ['Grace Hopper', '6 signups', '$97.50'],
];

const TABS = [
  { key: 'overview', title: 'Overview', Content: MonthTab },
  { key: 'enrollments', title: 'Referrers', Content: EnrollmentsTab },
  { key: 'payouts', title: 'Payouts', Content: PayoutsTab },
  { key: 'programs', title: 'Program', Content: ProgramsTab },
] as const;
const MORE = [
  { key: 'applications', title: 'Applications', Content: ApplicationsTab },
  { key: 'messages', title: 'Messages', Content: MessagesTab },
  { key: 'signups', title: 'Signups', Content: SignupsTab },
  { key: 'purchases', title: 'Purchases', Content: PurchasesTab },
  { key: 'commissions', title: 'Commissions', Content: CommissionsTab },
  { key: 'coupons', title: 'Coupons', Content: CouponsTab },
  { key: 'fulfilment', title: 'Fulfilment', Content: FulfilmentTab },
  { key: 'ledger', title: 'Ledger', Content: LedgerTab },
] as const;
const ALL = [...TABS, ...MORE];

/** The tabs that begin with the first program. */
const OF_PROGRAMS: readonly string[] = ['overview', 'programs'];

/** Referral programs: what they brought, terms, referrers, rewards and payouts. The tab is in the URL. */
export default function ReferralsPage() {
  const view = useViewState();
  const { can } = useSession();
  const programs = useApi<Programs>('/programs');
  // The state is here, so that the dialog stays when the first program turns the empty state into a list.
  const [creation, setCreation] = useState<'none' | 'open' | 'made'>('none');
  const [isAdding, setAdding] = useState(false);
  // Runs after the dialog has closed: an open dialog with input blocks a change of the page.
  useEffect(() => {
    if (creation !== 'made') return;
    setCreation('none');
    view.show('programs');
  });
  const shown = ALL.find(({ key }) => key === view.get('tab')) ?? TABS[0];
  const create = can('operator') && <Button onClick={() => setCreation('open')}>New program</Button>;
  const add = can('operator') && (
    <>
      <Button component={Link} href="/referrals/import" variant="default">
        Import
      </Button>
      <Button onClick={() => setAdding(true)}>Add a referrer</Button>
    </>
  );
  const hasAny = (programs.data?.programs.length ?? 0) > 0;
  return (
    <>
      <PageHeader title="Referrals">
        {hasAny && OF_PROGRAMS.includes(shown.key) && create}
        {hasAny && shown.key === 'enrollments' && add}
      </PageHeader>
      <Tabs value={shown.key} onChange={(key) => key && view.show(key)} keepMounted={false}>
        <TabLine label="Parts of referrals" tabs={TABS} more={MORE} chosen={shown.key} choose={view.show} />
        {ALL.map(({ key, Content }) => (
          <Tabs.Panel key={key} value={key}>
            {OF_PROGRAMS.includes(key) ? (
              <WithPrograms
                programs={programs}
                create={create}
                skeleton={key === 'overview' ? <MonthSkeleton /> : <ProgramsSkeleton />}
              >
                <Content />
              </WithPrograms>
            ) : (
              <Content />
            )}
          </Tabs.Panel>
        ))}
      </Tabs>
      {isAdding && <AddReferrerDialog close={() => setAdding(false)} />}
      {creation === 'open' && (
        <ProgramDialog program={null} close={() => setCreation('none')} made={() => setCreation('made')} />
      )}
    </>
  );
}

type WithProgramsProps = {
  programs: ReturnType<typeof useApi<Programs>>;
  create: ReactNode;
  skeleton: ReactNode;
  children: ReactNode;
};

/** Shows how to begin while the workspace has no program. */
const WithPrograms = ({ programs, create, skeleton, children }: WithProgramsProps) => (
  <QueryView
    query={programs}
    skeleton={skeleton}
    empty={{
      when: (data) => data.programs.length === 0,
      show: (
        <EmptyState title="No programs yet" action={create} example={EXAMPLE}>
          A program defines what people earn for referring new users.
          {!create && ' Operators of the workspace create programs.'}
        </EmptyState>
      ),
    }}
  >
    {() => children}
  </QueryView>
);
