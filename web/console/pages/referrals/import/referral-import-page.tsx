import { Anchor, Button, FileInput, Group, Loader, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { useSend } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { useSession } from '../../../api/session.ts';
import { plural } from '../../../formats.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { FailureNotice } from '../../../parts/failure-notice.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { LeaveGuard } from '../../../shell/leave-guard.tsx';
import { usePrograms } from '../filters.tsx';
import { readFiles, type SentFile } from './import-files.ts';
import { ReferralImportReport } from './referral-import-report.tsx';

export type ReferralImportResult = ResponseOf<'/referrals/import', 'post'>;

type Body = { from: string; program_id: string; files: SentFile[]; dry_run: boolean };

const SOURCES = [
  { value: 'rewardful', label: 'Rewardful' },
  { value: 'tolt', label: 'Tolt' },
  { value: 'firstpromoter', label: 'FirstPromoter' },
  { value: 'partnerstack', label: 'PartnerStack' },
  { value: 'tapfiliate', label: 'Tapfiliate' },
  { value: 'csv', label: 'Another program: CSV with our columns' },
];

/** What an import changes. */
const CHANGED = ['/enrollments', '/referrals', '/commissions', '/signups', '/coupons', '/ledger', '/payouts'];

/** Imports referrers, their customers and unpaid commissions of another program. A check says first what it will do. */
export default function ReferralImportPage() {
  const { can } = useSession();
  const programs = usePrograms();
  const [from, setFrom] = useState('rewardful');
  const [programId, setProgramId] = useState<string | null>(null);
  const [files, setFiles] = useState<File[]>([]);
  const [wrong, setWrong] = useState<string | null>(null);
  const run = useSend<Body, ReferralImportResult>((body) => ({ path: '/referrals/import', body }), {
    refresh: CHANGED,
    tellFailure: false,
  });
  const program = programs.find(({ id }) => id === programId) ?? programs[0];

  const start = async (isCheck: boolean) => {
    if (!program) return;
    setWrong(null);
    try {
      const sent = await readFiles(files);
      run.mutate({ from, program_id: program.id, files: sent, dry_run: isCheck });
    } catch (error) {
      setWrong(error instanceof Error ? error.message : 'The files cannot be read.');
    }
  };
  /** The last check was about other files, or another source. */
  const changed = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      set(value);
      setWrong(null);
      run.reset();
    };
  };
  const isRunning = run.isPending;
  const isImport = run.variables?.dry_run === false;

  if (!can('operator')) {
    return (
      <>
        <PageHeader title="Import referrers" />
        <EmptyState title="Your role cannot import referrers">Ask an operator of the workspace.</EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Import referrers">
        <Anchor component={Link} href="/referrals?tab=enrollments">
          All referrers
        </Anchor>
      </PageHeader>
      <LeaveGuard active={isRunning && isImport} title="Leave while the import runs?">
        The import continues without this page. Import the same files again to see its result.
      </LeaveGuard>
      <Stack maw={860} gap="md">
        <Text size="sm">
          Export partners, customers and commissions of the other program as CSV, and import them together.
          Links and codes of your referrers stay, and what they have earned is paid by your next payout file.
          Rows that are there already are left alone, so files can be imported twice.
        </Text>
        {program === undefined ? (
          <EmptyState
            title="No program yet"
            action={
              <Button component={Link} href="/referrals?tab=programs">
                Create a program
              </Button>
            }
          >
            Create the program that the referrers join, then import them.
          </EmptyState>
        ) : (
          <>
            <NativeSelect
              label="From"
              data={SOURCES}
              value={from}
              disabled={isRunning}
              onChange={(event) => changed(setFrom)(event.currentTarget.value)}
            />
            {programs.length > 1 && (
              <NativeSelect
                label="Into the program"
                data={programs.map(({ id, name }) => ({ value: id, label: name }))}
                value={program.id}
                disabled={isRunning}
                onChange={(event) => changed(setProgramId)(event.currentTarget.value)}
              />
            )}
            <FileInput
              label="Files"
              description="CSV of partners, customers, and commissions, in any order. The columns tell which is which."
              placeholder="Choose files"
              accept=".csv,.tsv,.txt,text/csv"
              multiple
              value={files}
              error={wrong}
              disabled={isRunning}
              onChange={changed(setFiles)}
              clearable
              clearButtonProps={{ 'aria-label': 'Clear the files' }}
            />
            {files.length > 0 && !run.data && !isRunning && (
              <Group>
                <Button onClick={() => void start(true)}>
                  Check {plural(files.length, 'file', 'files')}
                </Button>
              </Group>
            )}
          </>
        )}
        {isRunning && (
          <Group gap="sm" role="status">
            <Loader size="sm" />
            <Text size="sm">
              {isImport ? 'Importing' : 'Checking'} {plural(files.length, 'file', 'files')}. A large program
              takes half a minute.
            </Text>
          </Group>
        )}
        {run.error !== null && (
          <FailureNotice
            error={run.error}
            title={isImport ? 'The import has failed' : 'The files cannot be imported'}
            again={() => void start(!isImport)}
          />
        )}
        {run.data && !isRunning && (
          <ReferralImportReport result={run.data} startImport={() => void start(false)} />
        )}
      </Stack>
    </>
  );
}
