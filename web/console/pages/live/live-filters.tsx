import { Select, Switch } from '@mantine/core';
import { useState } from 'react';
import { CHANNELS } from '../../../../core/enrich/channels.ts';
import type { LinkRecord, LinkRecords } from '../../api/links.ts';
import { useApi } from '../../api/queries.ts';
import { channelName, countryName } from '../../formats.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import type { LiveFilter, useLiveFilter } from './live-view.ts';

/** Number of suggested links. */
const OFFERED = 20;
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Codes that are not countries: groups, user-assigned and test codes. */
const NO_COUNTRIES = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);

type Props = { filter: LiveFilter; change: ReturnType<typeof useLiveFilter>['change'] };

/** Filters of the live list. */
export function LiveFilters({ filter, change }: Props) {
  // Hundreds of names to look up and sort: computed on demand.
  const [countries, setCountries] = useState<Option[]>([]);
  const chosen = filter.country;
  return (
    <FilterBar label="Filters of clicks" names={['link', 'channel', 'country', 'bots']} isWide>
      <LinkFilter link={filter.link} change={(link) => change({ link })} />
      <Select
        label="Channel"
        placeholder="All channels"
        data={CHANNELS.map((key) => ({ value: key, label: channelName(key) }))}
        value={filter.channel}
        onChange={(channel) => change({ channel })}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All channels' }}
      />
      <Select
        label="Country"
        placeholder="All countries"
        data={countries.length > 0 || chosen === null ? countries : [countryOption(chosen)]}
        onDropdownOpen={() => setCountries((known) => (known.length > 0 ? known : allCountries()))}
        value={chosen}
        onChange={(country) => change({ country })}
        limit={50}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'All countries' }}
      />
      <Switch
        label="Include bots"
        checked={filter.bots}
        mb="xs"
        onChange={(event) => change({ bots: event.currentTarget.checked ? 'include' : null })}
      />
    </FilterBar>
  );
}

/** Finds a link by a part of its slug. */
function LinkFilter({ link, change }: { link: string | null; change: (link: string | null) => void }) {
  const [typed, setTyped] = useState('');
  const chosen = useApi<LinkRecord>(link === null ? null : `/links/${link}`);
  const name = link === null ? null : chosen.data?.id === link ? chosen.data.slug : link.slice(-8);
  // The field shows the chosen link: do not search for it.
  const slug = typed === '' || typed === name ? null : typed.slice(0, 200);
  const found = useApi<LinkRecords>('/links', { view: 'records', limit: OFFERED, slug });
  const options = (found.data?.links ?? []).map((record) => ({ value: record.id, label: record.slug }));
  if (link !== null && name !== null && !options.some(({ value }) => value === link)) {
    options.unshift({ value: link, label: name });
  }
  return (
    <Select
      label="Link"
      placeholder="All links"
      data={options}
      value={link}
      onChange={change}
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage="No matching link"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'All links' }}
    />
  );
}

type Option = { value: string; label: string };

const countryOption = (code: string): Option => ({ value: code, label: countryName(code) });

function allCountries(): Option[] {
  const names = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'none' });
  return LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`))
    .filter((code) => !NO_COUNTRIES.has(code) && !isFormer(code) && names.of(code) !== undefined)
    .map(countryOption)
    .sort((a, b) => a.label.localeCompare(b.label));
}

/** Whether a code is of a former country (`DD`), which has a successor. */
const isFormer = (code: string) => Intl.getCanonicalLocales(`und-${code}`)[0] !== `und-${code}`;
