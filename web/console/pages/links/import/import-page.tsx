import { Alert, Anchor, Button, FileInput, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useSession } from '../../../api/session.ts';
import { formatCount, plural } from '../../../formats.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { FailureNotice } from '../../../parts/failure-notice.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { LeaveGuard } from '../../../shell/leave-guard.tsx';
import { ImportOptionFields, USUAL } from './import-options.tsx';
import { FileProblem, type ImportFile, readImportFile } from './import-pieces.ts';
import { ImportResult } from './import-result.tsx';
import { type ImportState, runImport } from './run-import.ts';

type Stage =
  | { name: 'choose' }
  | { name: 'running'; isCheck: boolean; state: ImportState }
  | { name: 'over'; isCheck: boolean; state: ImportState; canceled: boolean; error: unknown };

/** Imports links from another service's export, in batches. A check says first what the import will do. */
export default function ImportPage() {
  const { can, workspace } = useSession();
  const queries = useQueryClient();
  const [file, setFile] = useState<ImportFile | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [options, setOptions] = useState(USUAL);
  const [stage, setStage] = useState<Stage>({ name: 'choose' });
  const cancel = useRef(new AbortController());
  // Leaving the page cancels the import.
  useEffect(() => () => cancel.current.abort(), []);

  const choose = async (chosen: File | null) => {
    setFile(null);
    setWrong(null);
    setStage({ name: 'choose' });
    if (!chosen) return;
    try {
      setFile(await readImportFile(chosen));
    } catch (error) {
      if (error instanceof FileProblem) setWrong(`The file ${error.message}`);
      else setWrong('The file cannot be read.');
    }
  };

  const start = async (isCheck: boolean) => {
    if (!file) return;
    cancel.current = new AbortController();
    const { signal } = cancel.current;
    let latest: ImportState | null = null;
    try {
      const state = await runImport(file, { ...options, isCheck }, signal, (now) => {
        latest = now;
        setStage({ name: 'running', isCheck, state: now });
      });
      const canceled = signal.aborted && state.done < file.rows;
      setStage(
        isCheck && canceled ? { name: 'choose' } : { name: 'over', isCheck, state, canceled, error: null },
      );
    } catch (error) {
      if (latest) setStage({ name: 'over', isCheck, state: latest, canceled: false, error });
    }
    if (isCheck) return;
    await queries.invalidateQueries({
      predicate: ({ queryKey: [path] }) => typeof path === 'string' && path.startsWith('/links'),
    });
  };

  if (!can('operator')) {
    return (
      <>
        <PageHeader title="Import links" />
        <EmptyState title="Your role cannot import links">Ask an operator of the workspace.</EmptyState>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Import links">
        <Anchor component={Link} href="/links/import/clicks">
          Import click history
        </Anchor>
        <Anchor component={Link} href="/links">
          All links
        </Anchor>
      </PageHeader>
      <LeaveGuard active={stage.name === 'running' && !stage.isCheck} title="Stop the import?">
        It is still running and would end here. What was made so far stays; import the file again to go on.
      </LeaveGuard>
      <Stack maw={860} gap="md">
        <Text size="sm">
          Choose an export from Bitly, Dub, YOURLS, Shlink, Kutt, Rebrandly, Short.io, Sink or TinyURL, or a
          CSV with your own columns: <code>destination_url</code>, <code>name</code>, and optionally{' '}
          <code>slug</code>, <code>channel</code>, <code>tags</code> and other fields of a link. Existing
          links are skipped, so a file can be imported twice.
        </Text>
        {workspace.primary_domain ? null : (
          <Alert variant="outline" color="yellow" title="The workspace has no domain yet">
            Until it has one, every destination counts as an external site. Create a link to your own site
            first.
          </Alert>
        )}
        <FileInput
          label="File"
          description="CSV or JSON, up to 64 MB"
          placeholder="Choose a file"
          accept=".csv,.tsv,.txt,.json,text/csv,application/json"
          onChange={(chosen) => void choose(chosen)}
          error={wrong}
          disabled={stage.name === 'running'}
          clearable
          clearButtonProps={{ 'aria-label': 'Clear the file' }}
        />
        <ImportOptionFields
          options={options}
          disabled={stage.name === 'running'}
          onChange={(changed) => {
            setOptions(changed);
            setStage({ name: 'choose' });
          }}
        />
        {file && stage.name === 'choose' && (
          <Group>
            <Button onClick={() => void start(true)}>Check {plural(file.rows, 'row', 'rows')}</Button>
          </Group>
        )}
        {file && stage.name === 'running' && (
          <Running
            file={file}
            isCheck={stage.isCheck}
            state={stage.state}
            cancel={() => cancel.current.abort()}
          />
        )}
        {stage.name === 'over' && stage.error !== null && (
          <FailureNotice
            error={stage.error}
            title={failureOf(stage.isCheck, stage.state)}
            again={() => void start(stage.isCheck)}
          />
        )}
        {file && stage.name === 'over' && (stage.error === null || stage.state.done > 0) && (
          <ImportResult
            file={file}
            state={stage.state}
            canceled={stage.canceled}
            startImport={stage.isCheck && stage.error === null ? () => void start(false) : null}
          />
        )}
      </Stack>
    </>
  );
}

function failureOf(isCheck: boolean, { done }: ImportState): string {
  if (isCheck) return 'The file cannot be imported';
  return done > 0 ? 'The import has failed' : 'The file was not imported';
}

function Running({
  file,
  isCheck,
  state,
  cancel,
}: {
  file: ImportFile;
  isCheck: boolean;
  state: ImportState;
  cancel: () => void;
}) {
  const [cancelling, setCancelling] = useState(false);
  const percent = Math.floor((state.done / file.rows) * 100);
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Progress.Root size="lg">
          <Progress.Section value={percent} aria-label="Rows done" />
        </Progress.Root>
        <Group justify="space-between">
          <Text size="sm" role="status">
            {formatCount(state.done)} of {plural(file.rows, 'row', 'rows')}: {formatCount(state.created)}{' '}
            {isCheck ? 'to make' : 'made'}, {formatCount(state.skipped)} there already,{' '}
            {formatCount(state.refused.length)} refused
          </Text>
          <Button
            variant="default"
            size="xs"
            disabled={cancelling}
            onClick={() => {
              setCancelling(true);
              cancel();
            }}
          >
            {cancelling ? 'Ending' : 'Cancel'}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
