import { ActionIcon, Anchor, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconCode, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useApi, useSend } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { formatDate } from '../formats.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Note, SmallNote } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { FrameTagView } from './frame-tag-view.tsx';
import { missingWords } from './missing-words.ts';
import { ShareForm } from './share-form.tsx';
import {
  addressWithView,
  SHARED_PATH,
  type SharedDashboard,
  type SharedDashboards,
} from './shared-dashboards.ts';
import { useView } from './use-view.ts';

/** Dashboards that people without an account see: makes, changes and ends them. */
export default function ShareDialog({ close }: { close: () => void }) {
  const { can } = useSession();
  const [edited, setEdited] = useState<SharedDashboard | 'new' | null>(null);
  const [tagged, setTagged] = useState<SharedDashboard | null>(null);
  const shared = useApi<SharedDashboards>(SHARED_PATH, { limit: 500 });
  const title = (edited === 'new' ? 'Share a dashboard' : (edited ?? tagged)?.name) ?? 'Shared dashboards';
  return (
    <Dialog title={title} close={close} size="lg">
      {edited !== null ? (
        <ShareForm dashboard={edited === 'new' ? null : edited} done={() => setEdited(null)} />
      ) : tagged !== null ? (
        <FrameTagView dashboard={tagged} done={() => setTagged(null)} />
      ) : (
        <Stack gap="md">
          <Text size="sm">
            Anyone with the link of a shared dashboard sees its figures without signing in. It shows only what
            you choose. Its link opens with the period, filters and metric of this page; viewers can change
            them.
          </Text>
          <QueryView query={shared} lines={3}>
            {({ shared_dashboards: dashboards }) =>
              dashboards.length === 0 ? (
                <Note>No shared dashboards yet</Note>
              ) : (
                <Stack component="ul" gap="sm" className="plain-list" aria-label="Shared dashboards">
                  {dashboards.map((dashboard) => (
                    <SharedItem
                      key={dashboard.id}
                      dashboard={dashboard}
                      edit={() => setEdited(dashboard)}
                      showTag={() => setTagged(dashboard)}
                    />
                  ))}
                </Stack>
              )
            }
          </QueryView>
          {can('operator') && (
            <Group justify="flex-end">
              <Button onClick={() => setEdited('new')}>Share a dashboard</Button>
            </Group>
          )}
        </Stack>
      )}
    </Dialog>
  );
}

const SCOPE_WORDS: Record<SharedDashboard['scope']['type'], (count: number) => string> = {
  workspace: () => 'All links',
  tag: (count) => (count === 1 ? 'One tag' : `${count} tags`),
  folder: (count) => (count === 1 ? 'One folder' : `${count} folders`),
  links: (count) => (count === 1 ? 'One link' : `${count} links`),
};

type ItemProps = { dashboard: SharedDashboard; edit: () => void; showTag: () => void };

function SharedItem({ dashboard, edit, showTag }: ItemProps) {
  const { can } = useSession();
  const { search } = useView();
  const { id, name, scope, has_password, show_revenue, embed, expires_at } = dashboard;
  const url = addressWithView(dashboard, search);
  const remove = useSend<void>(() => ({ path: `${SHARED_PATH}/${id}`, method: 'DELETE' }), {
    refresh: [SHARED_PATH],
    done: 'No longer shared',
  });
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now();
  const about = [
    SCOPE_WORDS[scope.type](scope.values?.length ?? 0),
    has_password ? 'with a password' : null,
    embed ? 'for frames' : null,
    show_revenue ? 'with revenue' : null,
    expires_at !== null && !isOver ? `until ${formatDate(expires_at)}` : null,
  ].filter((part) => part !== null);
  const missing = missingWords(dashboard);
  return (
    <Group component="li" justify="space-between" gap="sm">
      <div style={{ flex: '1 1 220px', minWidth: 0, overflowWrap: 'anywhere' }}>
        <Anchor href={url} target="_blank" rel="noreferrer" size="sm" fw={600}>
          {name}
        </Anchor>{' '}
        {isOver && <Badge color="gray.7">Ended</Badge>}
        <SmallNote>{about.join(', ')}</SmallNote>
        {missing !== null && (
          <Text size="xs" c="red">
            {missing}
          </Text>
        )}
      </div>
      <Group gap={6} wrap="nowrap">
        <CopyButton value={url} what={`the link of ${name}`} />
        {embed && (
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Tag of ${name} for a page`}
            title="Tag for a page"
            onClick={showTag}
          >
            <IconCode size={18} stroke={1.6} />
          </ActionIcon>
        )}
        {can('operator') && (
          <>
            <Button size="xs" variant="default" onClick={edit} aria-label={`Change ${name}`}>
              Change
            </Button>
            <ActionIcon
              variant="default"
              size="lg"
              aria-label={`Stop sharing ${name}`}
              title="Stop sharing"
              loading={remove.isPending}
              onClick={() => remove.mutate()}
            >
              <IconTrash size={16} stroke={1.6} />
            </ActionIcon>
          </>
        )}
      </Group>
    </Group>
  );
}
