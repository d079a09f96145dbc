import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NativeSelect,
  PasswordInput,
  Stack,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { fieldError } from '../api/failures.ts';
import type { Folders, FoundLinks, Tags } from '../api/links.ts';
import { useApi, useSend } from '../api/queries.ts';
import { sentence } from '../api/sentence.ts';
import { FailureNotice } from '../parts/failure-notice.tsx';
import { dayOf, instantOfDay } from '../parts/window.ts';
import { SHARED_PATH, type SharedDashboard } from './shared-dashboards.ts';
import { useSource } from './source.ts';

type ScopeType = SharedDashboard['scope']['type'];

const SCOPES: { value: ScopeType; label: string }[] = [
  { value: 'workspace', label: 'All links of the workspace' },
  { value: 'tag', label: 'Links with a tag' },
  { value: 'folder', label: 'Links in a folder' },
  { value: 'links', label: 'Chosen links' },
];

/** Makes a shared dashboard, or changes one. */
export function ShareForm({ dashboard, done }: { dashboard: SharedDashboard | null; done: () => void }) {
  const { zone } = useSource();
  const [name, setName] = useState(dashboard?.name ?? '');
  const [type, setType] = useState<ScopeType>(dashboard?.scope.type ?? 'workspace');
  const [values, setValues] = useState<string[]>(dashboard?.scope.values ?? []);
  const [withRevenue, setRevenue] = useState(dashboard?.show_revenue ?? false);
  const [keepsPassword, setKeepsPassword] = useState(dashboard?.has_password ?? false);
  const [password, setPassword] = useState('');
  const [lastDay, setLastDay] = useState(
    dashboard?.expires_at ? dayOf(new Date(Date.parse(dashboard.expires_at) - 1)) : '',
  );
  const send = useSend<object>(
    (body) =>
      dashboard
        ? { path: `${SHARED_PATH}/${dashboard.id}`, method: 'PATCH', body }
        : { path: SHARED_PATH, once: true, body },
    { refresh: [SHARED_PATH], done: dashboard ? 'Saved' : 'Dashboard shared', tellFailure: false },
  );
  const isReady = name.trim() !== '' && (type === 'workspace' || values.length > 0);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isReady) return;
    send.mutate(
      {
        name: name.trim(),
        scope: type === 'workspace' ? { type } : { type, values },
        show_revenue: withRevenue,
        expires_at: lastDay === '' ? null : instantOfDay(lastDay, zone, 1).toISOString(),
        ...(keepsPassword ? {} : { password: password === '' ? null : password }),
      },
      { onSuccess: done },
    );
  };
  const wrong = (path: string) => {
    const message = fieldError(send.error, path);
    return message && sentence(`${path} ${message}`);
  };
  const isKnown = ['name', 'password', 'expires_at'].some((path) => fieldError(send.error, path));
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        {send.isError && !isKnown && <FailureNotice error={send.error} title="Not saved" />}
        <TextInput
          label="Name"
          data-autofocus
          required
          maxLength={100}
          value={name}
          error={wrong('name')}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="What it shows"
          data={SCOPES}
          value={type}
          onChange={(event) => {
            setType(event.currentTarget.value as ScopeType);
            setValues([]);
          }}
        />
        {type !== 'workspace' && <ScopeValues key={type} type={type} values={values} choose={setValues} />}
        {keepsPassword ? (
          <Group gap="sm">
            <span>It has a password.</span>
            <Button size="xs" variant="default" onClick={() => setKeepsPassword(false)}>
              Change or remove it
            </Button>
          </Group>
        ) : (
          <PasswordInput
            label="Password"
            description="Optional. Visitors enter it before they see anything."
            autoComplete="new-password"
            minLength={4}
            maxLength={200}
            value={password}
            error={wrong('password')}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
        )}
        <TextInput
          type="date"
          label="Last day"
          description="Optional. The link ends after this day."
          min={dayOf(new Date())}
          value={lastDay}
          error={wrong('expires_at')}
          onChange={(event) => setLastDay(event.currentTarget.value)}
        />
        <Checkbox
          label="Show revenue"
          checked={withRevenue}
          onChange={(event) => setRevenue(event.currentTarget.checked)}
        />
        <Group justify="flex-end" mt="xs">
          <Button variant="default" onClick={done}>
            Back
          </Button>
          <Button type="submit" disabled={!isReady} loading={send.isPending}>
            {dashboard ? 'Save' : 'Share'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type ValuesProps = {
  type: Exclude<ScopeType, 'workspace'>;
  values: string[];
  choose: (values: string[]) => void;
};

/** Links that a search of the form offers. */
const OFFERED_LINKS = 50;

function ScopeValues({ type, values, choose }: ValuesProps) {
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
      required
      {...(type === 'links' && {
        searchValue: search,
        onSearchChange: setSearch,
        filter: ({ options }) => options,
      })}
      nothingFoundMessage="Nothing found"
      maxValues={500}
    />
  );
}
