import { Anchor, Button, Paper } from '@mantine/core';
import { Link } from 'wouter';
import type { LinkRecords } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LookAtSample } from './first-steps.tsx';

/** What the page looks like with data. */
const EXAMPLE = [
  ['Instagram', '1,204 clicks', '$2,310.00'],
  ['Newsletter', '318 clicks', '$1,864.00'],
  ['YouTube', '96 clicks', '$240.00'],
];

/** Empty state of the overview: create a link, or share existing ones. */
export function NoClicks() {
  const links = useApi<LinkRecords>('/links', { view: 'records', limit: 1 });
  return (
    <Paper withBorder>
      <QueryView query={links} lines={3}>
        {(data) => (data.links.length === 0 ? <FirstLink /> : <QuietLinks />)}
      </QueryView>
    </Paper>
  );
}

function FirstLink() {
  const { can } = useSession();
  const pixel = (
    <>
      Put{' '}
      <Anchor component={Link} href="/settings/developers" inherit underline="always">
        the pixel
      </Anchor>{' '}
      on your site to see conversions and revenue too.
    </>
  );
  if (!can('operator')) {
    return <EmptyState title="No links yet">Ask an operator of the workspace to create one.</EmptyState>;
  }
  return (
    <EmptyState
      title="Create your first link"
      example={EXAMPLE}
      action={
        <>
          <Button component={Link} href="/links/new">
            New link
          </Button>
          <LookAtSample size="sm" />
        </>
      }
    >
      Share it. Clicks appear here within a second. {pixel}
    </EmptyState>
  );
}

const QuietLinks = () => (
  <EmptyState
    title="No clicks in this period"
    action={
      <Button component={Link} href="/links" variant="default">
        Show the links
      </Button>
    }
  >
    Choose a longer period, or share one of the links.
  </EmptyState>
);
