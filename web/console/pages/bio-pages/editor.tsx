import { Box, Button, Fieldset, Grid, Group, SegmentedControl, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconExternalLink } from '@tabler/icons-react';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FailureNotice } from '../../parts/failure-notice.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { BioPage } from './answers.ts';
import { ButtonsForm } from './buttons-form.tsx';
import { bodyOf, type Draft, draftOf, isSame, type PageBody } from './draft.ts';
import { LeaveGuard } from './leave-guard.tsx';
import { Preview } from './preview.tsx';
import { ProfileForm } from './profile-form.tsx';
import { PublishForm } from './publish-form.tsx';
import { ThemeForm } from './theme-form.tsx';

/** What a part of the editor shows and changes. `error`: of the last save, for the fields to show. */
export type PartProps = { draft: Draft; change: (part: Partial<Draft>) => void; error: unknown };

const TABS = { content: 'Content', look: 'Look', publish: 'Publish' } as const;

/** Edits a copy of the page; nothing changes for visitors before it is saved. */
export function Editor({ page }: { page: BioPage }) {
  const { can } = useSession();
  const [search, setSearch] = useSearchParams();
  const [saved, setSaved] = useState(page);
  const [draft, setDraft] = useState(() => draftOf(page));
  const [view, setView] = useState('edit');
  const isWide = useMediaQuery('(min-width: 62em)', true);
  const isDirty = !isSame(draft, draftOf(saved));
  const save = useSend<PageBody, BioPage>(
    (body) => ({ path: `/bio-pages/${page.id}`, method: 'PATCH', body }),
    { refresh: ['/bio-pages'], done: 'Saved', tellFailure: false },
  );
  const part: PartProps = {
    draft,
    change: (fields) => setDraft((before) => ({ ...before, ...fields })),
    error: save.error,
  };
  const asked = search.get('tab') ?? '';
  const tab = asked in TABS ? asked : 'content';
  const showTab = (next: string | null) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      after.set('tab', next ?? 'content');
      return after;
    });
  const keep = () => {
    const sent = draft;
    save.mutate(bodyOf(sent), {
      onSuccess: (got) => {
        setSaved(got);
        // What was typed while it was being saved stays.
        setDraft((now) => (now === sent ? draftOf(got) : now));
      },
    });
  };

  return (
    <>
      <PageHeader title={saved.title || saved.slug}>
        {can('operator') && (
          <>
            <Button
              variant="default"
              disabled={!isDirty || save.isPending}
              onClick={() => {
                setDraft(draftOf(saved));
                save.reset();
              }}
            >
              Discard changes
            </Button>
            <Button disabled={!isDirty} loading={save.isPending} onClick={keep}>
              Save
            </Button>
          </>
        )}
      </PageHeader>
      <Address page={saved} />
      {save.isError && (
        <Box mb="md">
          <FailureNotice error={save.error} />
        </Box>
      )}
      {!isWide && (
        <SegmentedControl
          fullWidth
          mb="md"
          aria-label="What is shown"
          data={[
            { value: 'edit', label: can('operator') ? 'Edit' : 'Settings' },
            { value: 'preview', label: 'Preview' },
          ]}
          value={view}
          onChange={setView}
        />
      )}
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }} display={isWide || view === 'edit' ? undefined : 'none'}>
          <Tabs value={tab} onChange={showTab} keepMounted={false}>
            <Tabs.List mb="md">
              {Object.entries(TABS).map(([key, title]) => (
                <Tabs.Tab key={key} value={key}>
                  {title}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Fieldset variant="unstyled" disabled={!can('operator')}>
              <Tabs.Panel value="content">
                <ProfileForm {...part} />
                <ButtonsForm {...part} page={saved} />
              </Tabs.Panel>
              <Tabs.Panel value="look">
                <ThemeForm {...part} />
              </Tabs.Panel>
              <Tabs.Panel value="publish">
                <PublishForm {...part} page={saved} />
              </Tabs.Panel>
            </Fieldset>
          </Tabs>
        </Grid.Col>
        {(isWide || view === 'preview') && (
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Preview draft={draft} slug={saved.slug} />
          </Grid.Col>
        )}
      </Grid>
      <LeaveGuard active={isDirty && can('operator')} />
    </>
  );
}

function Address({ page }: { page: BioPage }) {
  return (
    <Group gap="xs" mb="md" wrap="nowrap">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {page.url}
      </Text>
      <CopyButton value={page.url} what="the address" />
      {page.is_published && (
        <Button
          component="a"
          href={page.url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          leftSection={<IconExternalLink size={18} stroke={1.6} />}
        >
          Open
        </Button>
      )}
    </Group>
  );
}
