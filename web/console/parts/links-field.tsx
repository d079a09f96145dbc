import { MultiSelect } from '@mantine/core';
import { useState } from 'react';
import type { Folders, FoundLinks, Tags } from '../api/links.ts';
import { useApi } from '../api/queries.ts';

type LinksFieldProps = {
  type: 'tag' | 'folder' | 'links';
  values: string[];
  choose: (values: string[]) => void;
  required?: boolean;
  error?: string | null;
  maxValues?: number;
};

/** Links that a search of the form offers. */
const OFFERED_LINKS = 50;

/** Chooses links, or their tags or folders. */
export function LinksField({
  type,
  values,
  choose,
  required = false,
  error,
  maxValues = 500,
}: LinksFieldProps) {
  const [search, setSearch] = useState('');
  const tags = useApi<Tags>(type === 'tag' ? '/links/tags' : null);
  const folders = useApi<Folders>(type === 'folder' ? '/folders' : null, { limit: 500 });
  const found = useApi<FoundLinks>(type === 'links' ? '/links/search' : null, {
    q: search === '' ? null : search,
    limit: OFFERED_LINKS,
  });
  const chosen = useApi<FoundLinks>(type === 'links' && values.length > 0 ? '/links/search' : null, {
    ids: values.slice(0, OFFERED_LINKS).join(','),
    limit: OFFERED_LINKS,
  });
  const [known, setKnown] = useState<Record<string, string>>({});
  const links = [...(chosen.data?.links ?? []), ...(found.data?.links ?? [])].map(({ link }) => link);
  const labels = {
    ...known,
    ...Object.fromEntries(links.map((link) => [link.id, `${link.slug} (${link.name})`])),
  };
  const data = {
    tag: (tags.data?.tags ?? []).map(({ tag }) => ({ value: tag, label: tag })),
    folder: (folders.data?.folders ?? []).map(({ id, name }) => ({ value: id, label: name })),
    links: [...new Set([...values, ...links.map(({ id }) => id)])].map((id) => ({
      value: id,
      label: labels[id] ?? id,
    })),
  }[type];
  return (
    <MultiSelect
      label={{ tag: 'Tags', folder: 'Folders', links: 'Links' }[type]}
      data={data}
      value={values}
      onChange={(chosenValues) => {
        setKnown(labels);
        choose(chosenValues);
      }}
      searchable
      required={required}
      error={error}
      {...(type === 'links' && {
        searchValue: search,
        onSearchChange: setSearch,
        filter: ({ options }) => options,
      })}
      nothingFoundMessage="Nothing found"
      maxValues={maxValues}
    />
  );
}
