import {
  Anchor,
  Button,
  FileInput,
  Group,
  Loader,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { callApi } from '../../../api/call.ts';
import { refreshReads, useOneMutation } from '../../../api/queries.ts';
import type { ResponseOf } from '../../../api/responses.ts';
import { useSession } from '../../../api/session.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { FailureNotice } from '../../../parts/failure-notice.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { ClickImportReport } from './click-import-report.tsx';
import { type ClickFileKind, importQuery, KIND_CHOICES, KINDS } from './click-source.ts';
import { PastImports } from './past-imports.tsx';

export type ClickImportResult = ResponseOf<'/clicks/import', 'post'>;

/** Bytes of the largest file; the command takes larger ones. */
const FILE_LIMIT = 64 * 1_048_576;

type Sent = { file: File; isCheck: boolean };

/**
 * Imports the history of clicks, or of orders, from another service's export. A check says first what the import will
 * do.
 */
export default function ClickImportPage() {
  const { can } = useSession();
  const queries = useQueryClient();
  const [kind, setKind] = useState<ClickFileKind>('csv');
  const [file, setFile] = useState<File | null>(null);
  const [link, setLink] = useState('');
  const [domain, setDomain] = useState('');
  const run = useOneMutation<Sent, ClickImportResult>(
    {
      mutationFn: ({ file: chosen, isCheck }) =>
        callApi<ClickImportResult>('/clicks/import', {
          method: 'POST',
          query: {
            ...importQuery(kind),
            dry_run: isCheck,
            link: link.trim() || null,
            domain: domain.trim() || null,
          },
          file: chosen,
        }),
      onSuccess: (result) => {
        if (!result.dry_run)
          void refreshReads(queries, ['/clicks', '/analytics', '/channels', '/links', '/visitors']);
      },
    },
    ({ isCheck }) => String(isCheck),
  );
  const isTooLarge = file !== null && file.size > FILE_LIMIT;
  /** Results for another file or other options are no longer valid. */
  const choose = (change: () => void) => {
    change();
    run.reset();
  };

  if (!can('operator')) {
    return (
      <>
        <PageHeader title="Import click history" />
        <EmptyState title="Your role cannot import clicks">Ask an operator of the workspace.</EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Import click history">
        <Anchor component={Link} href="/links/import">
          Import links
        </Anchor>
      </PageHeader>
      <Stack maw={860} gap="md">
        <Text size="sm">
          Import the links first: each click belongs to one. Clicks keep their own time and are in every
          report. They make no webhook and count for no plan or limit. A file can be imported twice: what is
          there is skipped.
        </Text>
        <NativeSelect
          label="Where the file is from"
          description={KINDS[kind].file}
          data={KIND_CHOICES}
          value={kind}
          onChange={(event) => {
            const chosen = KIND_CHOICES.find(({ value }) => value === event.currentTarget.value);
            if (chosen) choose(() => setKind(chosen.value));
          }}
          disabled={run.isPending}
        />
        <FileInput
          label="File"
          description="Up to 64 MB; the command hoplog import clicks takes larger ones"
          placeholder="Choose a file"
          accept=".csv,.tsv,.txt,.json,.ndjson,text/csv,application/json"
          value={file}
          onChange={(chosen) => choose(() => setFile(chosen))}
          error={
            isTooLarge
              ? 'The file is larger than 64 MB. Split it, or use the command hoplog import clicks.'
              : null
          }
          disabled={run.isPending}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the file' }}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md">
          <TextInput
            label="Link of rows that name none"
            description="A slug or a short URL; for a file of one link"
            value={link}
            onChange={(event) => {
              const { value } = event.currentTarget;
              choose(() => setLink(value));
            }}
            disabled={run.isPending}
          />
          <TextInput
            label="Domain of rows on a domain that is not here"
            description="Where the links are now, such as go.example.com"
            value={domain}
            onChange={(event) => {
              const { value } = event.currentTarget;
              choose(() => setDomain(value));
            }}
            disabled={run.isPending}
          />
        </SimpleGrid>
        {file && !isTooLarge && !run.isPending && !run.data && (
          <Group>
            <Button onClick={() => run.mutate({ file, isCheck: true })}>Check the file</Button>
          </Group>
        )}
        {run.isPending && (
          <Paper withBorder p="md">
            <Group gap="sm" role="status">
              <Loader size="sm" />
              <Text size="sm">
                {run.variables?.isCheck ? 'Checking the file' : 'Importing. Keep this page open'}…
              </Text>
            </Group>
          </Paper>
        )}
        {run.isError && (
          <FailureNotice
            error={run.error}
            title={run.variables?.isCheck ? 'The file cannot be imported' : 'The import has failed'}
            again={() => run.variables && run.mutate(run.variables)}
          />
        )}
        {file && run.data && !run.isPending && (
          <ClickImportReport
            result={run.data}
            isOrders={kind === 'orders'}
            startImport={() => run.mutate({ file, isCheck: false })}
          />
        )}
        <PastImports onUndone={run.reset} />
      </Stack>
    </>
  );
}
