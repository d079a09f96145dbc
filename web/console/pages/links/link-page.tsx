import { Box, Button, Grid, Group, Menu, Paper, Stack, Title } from '@mantine/core';
import { IconCopyPlus, IconDownload, IconEdit, IconTrash } from '@tabler/icons-react';
import { Link, useLocation, useParams } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BlocksSkeleton, FactsSkeleton } from '../../parts/skeletons.tsx';
import { useWindow } from '../../parts/use-window.ts';
import { WindowPicker } from '../../parts/window-picker.tsx';
import { ClickExportItems } from './click-export-items.tsx';
import { LinkBreakdowns } from './link-breakdowns.tsx';
import { LinkClicks } from './link-clicks.tsx';
import { LinkComments } from './link-comments.tsx';
import { LinkFacts } from './link-facts.tsx';
import { LinkStats } from './link-stats.tsx';
import { MadeNotice } from './made-notice.tsx';
import { QrCard } from './qr-card.tsx';
import { ShortUrl } from './short-url.tsx';
import { DecisionResults } from './split/decision-results.tsx';
import { useLink } from './use-link.ts';

/** A link's settings and, on a paid plan, its statistics. */
export default function LinkPage() {
  const { id } = useParams<{ id: string }>();
  const link = useLink(id);
  return (
    <>
      <PageHeader title={link.data ? link.data.slug : 'Link'} isBar>
        {link.data && <Actions link={link.data} />}
      </PageHeader>
      <QueryView query={link} skeleton={<LinkSkeleton />}>
        {(record) => <Content link={record} />}
      </QueryView>
    </>
  );
}

const LinkSkeleton = () => (
  <Grid gap="md">
    <Grid.Col span={{ base: 12, md: 8 }}>
      <Stack gap="md">
        <BlocksSkeleton heights={[34]} />
        <Paper withBorder p="md">
          <FactsSkeleton count={8} />
        </Paper>
      </Stack>
    </Grid.Col>
    <Grid.Col span={{ base: 12, md: 4 }}>
      <BlocksSkeleton heights={[330]} />
    </Grid.Col>
  </Grid>
);

function Content({ link }: { link: LinkRecord }) {
  const { workspace } = useSession();
  return (
    <Stack gap="lg">
      <MadeNotice link={link} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack gap="md">
            <ShortUrl link={link} />
            <LinkFacts link={link} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <QrCard link={link} />
        </Grid.Col>
      </Grid>
      {workspace.paid ? (
        <>
          <Activity link={link} />
          <LinkComments linkId={link.id} />
        </>
      ) : (
        <EmptyState title="Statistics require an active paid plan">
          The click list, click exports and editing require one too.
        </EmptyState>
      )}
    </Stack>
  );
}

/** Statistics of the link in the period. */
function Activity({ link }: { link: LinkRecord }) {
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h3">
          Statistics
        </Title>
        <WindowPicker />
      </Group>
      <LinkStats linkId={link.id} />
      <DecisionResults link={link} />
      <LinkBreakdowns link={link} />
      <Box>
        <Title order={2} size="h3" mb="sm">
          Newest clicks
        </Title>
        <LinkClicks linkId={link.id} />
        <GeoCredit />
      </Box>
    </>
  );
}

function Actions({ link }: { link: LinkRecord }) {
  const { can, workspace } = useSession();
  const [, navigate] = useLocation();
  const { query } = useWindow();
  const remove = useSend<void>(() => ({ path: `/links/${link.id}`, method: 'DELETE' }), {
    // Not the link itself, which no longer exists.
    refresh: ['/links/search', '/links/tags', '/folders', '/analytics'],
    done: `Link ${link.slug} deleted`,
  });
  return (
    <>
      {can('operator') && workspace.paid && (
        <Button
          component={Link}
          href={`/links/${link.id}/edit`}
          variant="default"
          leftSection={<IconEdit size={18} />}
        >
          Edit
        </Button>
      )}
      {can('operator') && (
        <Button
          component={Link}
          href={`/links/new?like=${link.id}`}
          variant="default"
          leftSection={<IconCopyPlus size={18} />}
        >
          Duplicate
        </Button>
      )}
      {workspace.paid && (
        <Menu position="bottom-end" shadow="md">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={18} />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <ClickExportItems window={query} linkId={link.id} />
          </Menu.Dropdown>
        </Menu>
      )}
      {can('operator') && (
        <ConfirmButton
          leftSection={<IconTrash size={18} />}
          question={`Delete the link ${link.slug}?`}
          consequence="It stops redirecting at once. Its slug stays reserved. Its clicks stay in the workspace statistics."
          yes="Delete"
          pending={remove.isPending}
          onConfirm={() => remove.mutateAsync().then(() => navigate('/links', { replace: true }))}
        >
          Delete
        </ConfirmButton>
      )}
    </>
  );
}
