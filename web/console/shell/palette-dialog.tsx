import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { type RefObject, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { LinkRecords } from '../api/links.ts';
import { useApi } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { useSession } from '../api/session.ts';
import { PAGES } from '../pages.tsx';
import { webAddressIn } from '../parts/clean-address.ts';
import { shortId } from '../parts/click-words.ts';
import {
  ACTIONS,
  documentsAt,
  type Entry,
  matching,
  PAGE_WORDS,
  SETTINGS,
  SIGN_OUT,
} from './palette-entries.ts';
import { useSignOut } from './sign-out.ts';

const [STORE, SPOTLIGHT] = createSpotlight();

/** Links and people found by a text. */
const FOUND = 5;
/** Characters from which on links and people are searched. */
const LEAST = 2;

/** An entry that does something on the page itself has no path. */
type Action = Omit<Entry, 'path'> & ({ path: string } | { run: () => void });

export type PaletteProps = {
  /** Set to what tells whether it is shown: not while it closes. */
  isShown: RefObject<() => boolean>;
  close: () => void;
};

/** Finds pages, links, people, and actions; an address begins a link. Open as long as it is rendered. */
export default function PaletteDialog({ isShown, close }: PaletteProps) {
  useEffect(() => {
    SPOTLIGHT.open();
    isShown.current = () => STORE.getState().opened;
    return () => {
      isShown.current = () => true;
      SPOTLIGHT.close();
    };
  }, [isShown]);
  const [, navigate] = useLocation();
  const { can, workspace, urls } = useSession();
  const theme = useThemeAction();
  const { signOut } = useSignOut();
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
        PAGES.flatMap(({ icon, title, path }) =>
          icon ? [{ label: title, path, also: PAGE_WORDS[title] ?? '' }] : [],
        ),
      ),
    ],
    [
      'Actions',
      matching(query, [...ACTIONS.filter(({ role }) => can(role)), theme, { ...SIGN_OUT, run: signOut }]),
    ],
    // Settings have many words, so they are listed only for a query.
    [
      'Settings',
      query.trim() === ''
        ? []
        : matching(
            query,
            SETTINGS.filter(({ role }) => can(role)),
          ),
    ],
    ['Documents', matching(query, documentsAt(urls.base_url))],
  ];
  return (
    <Spotlight
      store={STORE}
      onSpotlightClose={close}
      shortcut={null}
      clearQueryOnClose={false}
      query={query}
      onQueryChange={setQuery}
      // Already filtered.
      filter={(_, all) => all}
      actions={groups.flatMap(([group, actions]) => toGroup(group, actions, (path) => open(path, navigate)))}
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

function toGroup(group: string, actions: Action[], go: (path: string) => void): SpotlightActionGroupData[] {
  if (actions.length === 0) return [];
  const shown: SpotlightActionData[] = actions.map((action) => ({
    id: `${group} ${action.label}`,
    label: action.label,
    ...(action.description !== undefined && { description: action.description }),
    onClick: () => ('run' in action ? action.run() : go(action.path)),
  }));
  return [{ group, actions: shown }];
}

/** Opens a page of the console; an address of the service in a tab of its own. */
function open(path: string, navigate: (path: string) => void): void {
  if (path.startsWith('/')) navigate(path);
  else window.open(path, '_blank', 'noopener');
}

function useThemeAction(): Action & { also: string } {
  const { setColorScheme } = useMantineColorScheme();
  const next = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  return {
    label: `Use the ${next} theme`,
    also: 'appearance colors dark light mode night',
    run: () => setColorScheme(next),
  };
}
