import { useDebouncedValue } from '@mantine/hooks';
import {
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
  spotlight,
} from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { LinkRecords } from '../api/links.ts';
import { useApi } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { useSession } from '../api/session.ts';
import { PAGES } from '../pages.tsx';
import { webAddressIn } from '../parts/clean-address.ts';
import { shortId } from '../parts/click-words.ts';

/** Links and people found by a text. */
const FOUND = 5;
/** Characters from which on links and people are searched. */
const LEAST = 2;

type Action = { label: string; path: string; description?: string };

/** Actions by role: their words, and where they are done. */
const ACTIONS: readonly (Action & { role: 'operator' | 'owner' })[] = [
  { label: 'Create a link', path: '/links/new', role: 'operator' },
  { label: 'Import links', path: '/links/import', role: 'operator' },
  { label: 'Create a bio page', path: '/bio-pages', role: 'operator' },
  { label: 'Create a referral program', path: '/referrals', role: 'operator' },
  { label: 'Review held signups', path: '/referrals?tab=signups&result=held', role: 'operator' },
  { label: 'Pay referrers', path: '/referrals?tab=payouts', role: 'operator' },
  { label: 'Add a webhook', path: '/webhooks', role: 'operator' },
  { label: 'Show problems', path: '/problems', role: 'operator' },
  { label: 'Invite a colleague', path: '/settings?tab=members', role: 'owner' },
  { label: 'Create an API key', path: '/settings/developers', role: 'owner' },
];

/** Finds pages, links, people, and actions; an address begins a link. Open as long as it is rendered. */
export default function PaletteDialog({ close }: { close: () => void }) {
  useEffect(() => {
    spotlight.open();
    return spotlight.close;
  }, []);
  const [, navigate] = useLocation();
  const { can, workspace } = useSession();
  const [query, setQuery] = useState('');
  const [asked] = useDebouncedValue(query.trim(), 200);
  const isAsked = asked.length >= LEAST && webAddressIn(asked) === null;
  const links = useApi<LinkRecords>(isAsked ? '/links' : null, {
    view: 'records',
    slug: asked,
    limit: FOUND,
  });
  const visitors = useApi<ResponseOf<'/visitors'>>(isAsked && workspace.paid ? '/visitors' : null, {
    search: asked,
    limit: FOUND,
  });

  const url = webAddressIn(query);
  const mayCreate = can('operator');
  const groups: [string, Action[]][] = [
    [
      'New link',
      url !== null && mayCreate
        ? [{ label: `Shorten ${url}`, path: `/links/new?url=${encodeURIComponent(url)}` }]
        : [],
    ],
    [
      'Links',
      isAsked
        ? (links.data?.links ?? []).map(({ id, slug, destination }) => ({
            label: slug,
            description: destination,
            path: `/links/${id}`,
          }))
        : [],
    ],
    [
      'People',
      isAsked
        ? (visitors.data?.visitors ?? []).map(({ id, email }) => ({
            label: email ?? `Visitor ${shortId(id)}`,
            path: `/visitors/${id}`,
          }))
        : [],
    ],
    [
      'Pages',
      matching(
        query,
        PAGES.flatMap(({ icon, title, path }) => (icon ? [{ label: title, path }] : [])),
      ),
    ],
    [
      'Actions',
      matching(
        query,
        ACTIONS.filter(({ role }) => can(role)),
      ),
    ],
  ];
  return (
    <Spotlight
      onSpotlightClose={close}
      shortcut={null}
      clearQueryOnClose={false}
      query={query}
      onQueryChange={setQuery}
      // Already filtered.
      filter={(_, all) => all}
      actions={groups.flatMap(([group, actions]) => toGroup(group, actions, (path) => navigate(path)))}
      nothingFound="Nothing found"
      transitionProps={{ duration: 0 }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      searchProps={{
        placeholder: 'Pages, links, people, actions',
        'aria-label': 'Pages, links, people, actions',
        maxLength: 2_000,
        leftSection: <IconSearch size={18} stroke={1.6} />,
      }}
    />
  );
}

const matching = (query: string, actions: Action[]): Action[] => {
  const words = query.toLowerCase().trim().split(/\s+/);
  return actions.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
};

function toGroup(group: string, actions: Action[], go: (path: string) => void): SpotlightActionGroupData[] {
  if (actions.length === 0) return [];
  const shown: SpotlightActionData[] = actions.map(({ label, description, path }) => ({
    id: `${group} ${path}`,
    label,
    ...(description !== undefined && { description }),
    onClick: () => go(path),
  }));
  return [{ group, actions: shown }];
}
