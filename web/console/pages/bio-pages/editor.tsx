import { Button, Grid, Group, SegmentedControl, Tabs, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconExternalLink } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { useUrlParameters } from '../../parts/url-parameters.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { ButtonsForm } from './buttons-form.tsx';
import type { Draft } from './draft.ts';
import { OperatorFields } from './operator-fields.tsx';
import { Preview } from './preview.tsx';
import type { Part, Wrong } from './problems.ts';
import { ProfileForm } from './profile-form.tsx';
import { PublishForm } from './publish-form.tsx';
import { PublishedBadge } from './published-badge.tsx';
import type { BioPage } from './responses.ts';
import { SaveBar } from './save-bar.tsx';
import { ThemeForm } from './theme-form.tsx';
import { useSaving } from './use-saving.ts';

/** Props of the editor's forms. `wrong`: a field's error of the last save. */
export type PartProps = { draft: Draft; change: (fields: Partial<Draft>) => void; wrong: Wrong };

const PARTS: Record<Part, string> = { content: 'Content', look: 'Look', publish: 'Publish' };

/** The forms of a page beside its preview; on narrow screens one of the two. */
export function Editor({ page }: { page: BioPage }) {
  const canChange = useSession().can('operator');
  const [part, showPart] = usePart();
  const [view, setView] = useState('edit');
  const isWide = useMediaQuery('(min-width: 62em)', true);
  const form = useRef<HTMLDivElement>(null);
  const isFocusWanted = useRef(false);
  const saving = useSaving(page, ([first]) => {
    isFocusWanted.current = true;
    setView('edit');
    if (first) showPart(first.part);
  });
  const { saved, draft, problems } = saving;

  // The field exists only after its tab is shown.
  useEffect(() => {
    if (!isFocusWanted.current || problems.length === 0) return;
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    isFocusWanted.current = !field;
    field?.focus();
  });

  const parts: PartProps = {
    draft,
    change: saving.change,
    wrong: (field) => problems.find((problem) => problem.field === field)?.message ?? null,
  };
  const saveBar = canChange && <SaveBar {...saving} />;
  return (
    <>
      <PageHeader title={saved.title || saved.slug}>
        {canChange && !saved.is_published && (
          <Button loading={saving.isSaving} onClick={saving.publish}>
            Publish
          </Button>
        )}
      </PageHeader>
      <Address page={saved} />
      {!isWide && (
        <SegmentedControl
          fullWidth
          mb="md"
          aria-label="View"
          data={[
            { value: 'edit', label: canChange ? 'Edit' : 'Settings' },
            { value: 'preview', label: 'Preview' },
          ]}
          value={view}
          onChange={setView}
        />
      )}
      <Grid gap="xl">
        <Grid.Col
          ref={form}
          span={{ base: 12, md: 7 }}
          display={isWide || view === 'edit' ? undefined : 'none'}
        >
          <Tabs value={part} onChange={showPart} keepMounted={false}>
            <Tabs.List mb="md">
              {Object.entries(PARTS).map(([key, title]) => (
                <Tabs.Tab key={key} value={key}>
                  {title}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="content">
              <OperatorFields>
                <ProfileForm {...parts} />
              </OperatorFields>
              <ButtonsForm {...parts} page={saved} />
            </Tabs.Panel>
            <Tabs.Panel value="look">
              <OperatorFields>
                <ThemeForm {...parts} />
              </OperatorFields>
            </Tabs.Panel>
            <Tabs.Panel value="publish">
              <OperatorFields>
                <PublishForm {...parts} page={saved} />
              </OperatorFields>
            </Tabs.Panel>
          </Tabs>
          {isWide && saveBar}
        </Grid.Col>
        {(isWide || view === 'preview') && (
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Preview draft={draft} slug={saved.slug} change={canChange ? saving.change : null} />
          </Grid.Col>
        )}
      </Grid>
      {!isWide && saveBar}
      <LeaveGuard active={saving.isDirty && canChange} />
    </>
  );
}

/** The selected tab, in the page's URL. */
function usePart(): [Part, (part: string | null) => void] {
  const [search, change] = useUrlParameters();
  const asked = search.get('tab') ?? '';
  const show = (part: string | null) => {
    if (part !== asked) change({ tab: part ?? 'content' });
  };
  return [isPart(asked) ? asked : 'content', show];
}

const isPart = (text: string): text is Part => Object.hasOwn(PARTS, text);

function Address({ page }: { page: BioPage }) {
  return (
    <Group gap="xs" mb="md" wrap="nowrap">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {page.url}
      </Text>
      <CopyButton value={page.url} what="the address" />
      {page.is_published ? (
        <Button
          component="a"
          href={page.url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          flex="none"
          leftSection={<IconExternalLink size={18} stroke={1.6} />}
        >
          Open
        </Button>
      ) : (
        <PublishedBadge page={page} />
      )}
    </Group>
  );
}
