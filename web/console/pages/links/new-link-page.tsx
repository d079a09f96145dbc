import { Anchor, Box, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { CreatedLinks, LinkRecord } from '../../api/links.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { channelName, plural } from '../../formats.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { createBody, DraftProblem, EMPTY_DRAFT, type LinkDraft } from './link-draft.ts';
import { LinkForm } from './link-form.tsx';

/** Creates a link, or one per channel. */
export default function NewLinkPage() {
  const { can } = useSession();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<LinkDraft>(EMPTY_DRAFT);
  const [problem, setProblem] = useState<DraftProblem | null>(null);
  const [made, setMade] = useState<LinkRecord[] | null>(null);
  const create = useSend<Record<string, unknown>, CreatedLinks>(
    (body) => ({ path: '/links', body, once: true }),
    { refresh: ['/links', '/analytics'], tellFailure: false },
  );

  const submit = () => {
    setProblem(null);
    let body: Record<string, unknown>;
    try {
      body = createBody(draft);
    } catch (error) {
      if (!(error instanceof DraftProblem)) throw error;
      setProblem(error);
      return;
    }
    create.mutate(body, {
      onSuccess: ({ links }) => {
        const [only] = links;
        if (only && links.length === 1) navigate(`/links/${only.id}`);
        else setMade(links);
      },
    });
  };

  if (!can('operator')) {
    return (
      <>
        <PageHeader title="New link" />
        <EmptyState title="Your role cannot create links">Ask an operator of the workspace.</EmptyState>
      </>
    );
  }
  if (made) {
    return (
      <Made
        links={made}
        again={() => {
          setMade(null);
          setDraft(EMPTY_DRAFT);
        }}
      />
    );
  }
  return (
    <>
      <PageHeader title="New link" />
      <LeaveGuard active={!isAlike(draft, EMPTY_DRAFT)}>Your input will be lost.</LeaveGuard>
      <LinkForm
        draft={draft}
        onChange={setDraft}
        existing={null}
        error={problem ?? create.error}
        pending={create.isPending}
        submit={submit}
        label="Create"
        back="/links"
      />
    </>
  );
}

/** Lists several created links. */
function Made({ links, again }: { links: LinkRecord[]; again: () => void }) {
  return (
    <>
      <PageHeader title={`${plural(links.length, 'link', 'links')} made`} />
      <Stack maw={720} gap="sm">
        {links.map((link) => (
          <Paper key={link.id} withBorder p="sm">
            <Group justify="space-between" wrap="nowrap">
              <Box miw={0}>
                <Text fw={600} size="sm">
                  {link.channel === null ? 'Smart Link' : channelName(link.channel)}
                </Text>
                <Anchor size="sm" truncate display="block" component={Link} href={`/links/${link.id}`}>
                  {link.short_url}
                </Anchor>
              </Box>
              <CopyButton value={link.short_url} what={`the short URL of ${link.slug}`} />
            </Group>
          </Paper>
        ))}
        <Group>
          <Button component={Link} href="/links">
            All links
          </Button>
          <Button variant="default" onClick={again}>
            Make another
          </Button>
        </Group>
      </Stack>
    </>
  );
}
