import { Select, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { CHANNELS } from '../../../../core/enrich/channels.ts';
import { type Folders, type LinkStatus, STATUS_NAMES, type Tags } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { channelName } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { OWN_HOST } from './form/own-host.ts';
import type { Filter, LinksView } from './links-view.ts';

/** Pause in typing before the search runs. Milliseconds. */
const PAUSE = 300;

type Props = {
  view: LinksView;
  /** Hosts of the workspace. */
  hosts: readonly string[];
  change: (changes: Record<string, string | null>, options?: { replace: boolean }) => void;
};

type Choice = { name: Filter; label: string; any: string; data: { value: string; label: string }[] };

/** Search and filters of the table. */
export function LinksFilters({ view: { filters }, hosts, change }: Props) {
  const { urls } = useSession();
  const folders = useApi<Folders>('/folders', { limit: 500 });
  const tags = useApi<Tags>('/links/tags');
  const named = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  // A chosen value stays, even if no link has it.
  const kept = (name: Filter, values: readonly string[]) =>
    named([...new Set([...(filters[name] ? [filters[name]] : []), ...values])]);
  const choices: (Choice | false)[] = [
    {
      name: 'channel',
      label: 'Channel',
      any: 'All channels',
      data: ['smart', ...CHANNELS].map((value) => ({
        value,
        label: channelName(value),
      })),
    },
    (hosts.length > 0 || filters.domain !== undefined) && {
      name: 'domain',
      label: 'Domain',
      any: 'All domains',
      data: [
        { value: OWN_HOST, label: new URL(urls.short_url).host },
        ...kept('domain', hosts).filter(({ value }) => value !== OWN_HOST),
      ],
    },
    {
      name: 'folder_id',
      label: 'Folder',
      any: 'All folders',
      data: [
        { value: 'none', label: 'No folder' },
        ...(folders.data?.folders ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ],
    },
    {
      name: 'tag',
      label: 'Tag',
      any: 'All tags',
      data: kept(
        'tag',
        (tags.data?.tags ?? []).map(({ tag }) => tag),
      ),
    },
    {
      name: 'status',
      label: 'Status',
      any: 'Any status',
      data: (Object.keys(STATUS_NAMES) as LinkStatus[]).map((value) => ({
        value,
        label: STATUS_NAMES[value],
      })),
    },
  ];
  const shown = choices.filter((choice) => choice !== false);
  return (
    <FilterBar
      label="Filters of links"
      names={shown.map(({ name }) => name)}
      search={<SearchField value={filters.q ?? ''} search={(q) => change({ q }, { replace: true })} />}
      isWide
    >
      {shown.map(({ name, label, any, data }) => (
        <Select
          key={name}
          label={label}
          placeholder={any}
          data={data}
          value={filters[name] ?? null}
          onChange={(value) => change({ [name]: value })}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': any }}
        />
      ))}
    </FilterBar>
  );
}

/** Searches after a pause in typing, or on Enter; follows changes of the URL. */
function SearchField({ value, search }: { value: string; search: (text: string) => void }) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = wanted;
      search(wanted);
    }, PAUSE);
    return () => clearTimeout(timer);
  });
  return (
    <TextInput
      type="search"
      label="Search"
      placeholder="Slug, name or destination"
      leftSection={<IconSearch size={16} aria-hidden="true" />}
      maxLength={200}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        sent.current = text.trim();
        search(sent.current);
      }}
    />
  );
}
