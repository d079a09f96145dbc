import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { CHANNELS } from '../../../../core/enrich/channels.ts';
import { type Folders, type LinkStatus, STATUS_NAMES, type Tags } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { channelName } from '../../formats.ts';
import type { LinksView } from './links-view.ts';

/** Pause in typing before the search runs. Milliseconds. */
const PAUSE = 300;

type Props = {
  view: LinksView;
  change: (changes: Record<string, string | null>, options?: { replace: boolean }) => void;
};

/** Search and filters of the table. */
export function LinksFilters({ view: { filters }, change }: Props) {
  const folders = useApi<Folders>('/folders', { limit: 500 });
  const tags = useApi<Tags>('/links/tags');
  const channels = [
    { value: 'smart', label: 'Smart Links' },
    ...CHANNELS.map((key) => ({ value: key, label: channelName(key) })),
  ];
  const folderOptions = [
    { value: 'none', label: 'No folder' },
    ...(folders.data?.folders ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ];
  const tagOptions = (tags.data?.tags ?? []).map(({ tag }) => tag);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm" role="search" aria-label="Filters of links">
      <SearchField value={filters.q ?? ''} search={(q) => change({ q }, { replace: true })} />
      <Select
        label="Channel"
        placeholder="All channels"
        data={channels}
        value={filters.channel ?? null}
        onChange={(channel) => change({ channel })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All channels' }}
      />
      <Select
        label="Folder"
        placeholder="All folders"
        data={folderOptions}
        value={filters.folder_id ?? null}
        onChange={(folder_id) => change({ folder_id })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All folders' }}
      />
      <Select
        label="Tag"
        placeholder="All tags"
        // Keep the chosen tag even if no link has it.
        data={[...new Set([...(filters.tag ? [filters.tag] : []), ...tagOptions])]}
        value={filters.tag ?? null}
        onChange={(tag) => change({ tag })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All tags' }}
      />
      <Select
        label="Status"
        placeholder="Any status"
        data={(Object.keys(STATUS_NAMES) as LinkStatus[]).map((value) => ({
          value,
          label: STATUS_NAMES[value],
        }))}
        value={filters.status ?? null}
        onChange={(status) => change({ status })}
        clearable
        clearButtonProps={{ 'aria-label': 'Any status' }}
      />
    </SimpleGrid>
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
