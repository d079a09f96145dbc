import { Alert, Button, CopyButton, Group } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { Link } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import type { LinkRecord } from '../../api/links.ts';
import { useFirstFocus } from '../../parts/use-first-focus.ts';

/** State of the history entry that shows a link just created. */
export const MADE = { made: true } as const;

/** What comes next for a link that was just created: to copy it, or to make another. */
export function MadeNotice({ link }: { link: LinkRecord }) {
  const copyButton = useFirstFocus<HTMLButtonElement>();
  const state = useHistoryState<Partial<typeof MADE> | null>();
  if (state?.made !== true) return null;
  return (
    <Alert color="hop" variant="outline" icon={<IconCheck />} title="The link is ready" role="status">
      <Group gap="sm">
        <CopyButton value={link.short_url} timeout={2_000}>
          {({ copied, copy }) => (
            <Button
              ref={copyButton}
              leftSection={copied ? <IconCheck size={18} /> : <IconCopy size={18} />}
              onClick={copy}
            >
              {copied ? 'Copied' : 'Copy the link'}
            </Button>
          )}
        </CopyButton>
        <Button component={Link} href={`/links/new?like=${link.id}`} variant="default">
          Make another like it
        </Button>
        <Button component={Link} href="/links/new" variant="default">
          New link
        </Button>
      </Group>
    </Alert>
  );
}
