import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import type { PartnerGroups, Programs } from './responses.ts';
import { useViewState } from './view-state.ts';

/** Pause in typing before a text is searched. Milliseconds. */
const TYPING = 300;

type Choice = { value: string; label: string };

/** A select filter, in the URL as `name`. */
export function ChoiceFilter({
  name,
  label,
  choices,
  all = 'All',
}: {
  name: string;
  label: string;
  choices: Choice[];
  all?: string;
}) {
  const view = useViewState();
  return (
    <Select
      label={label}
      size="xs"
      w={{ base: '100%', xs: 170 }}
      data={[{ value: '', label: all }, ...choices]}
      value={view.get(name) ?? ''}
      onChange={(value) => view.set({ [name]: value })}
      allowDeselect={false}
    />
  );
}

/** A text filter, in the URL as `name`. */
export function TextFilter({
  name,
  label,
  placeholder,
}: {
  name: string;
  label: string;
  placeholder?: string;
}) {
  const field = useTypedFilter(name);
  return (
    <TextInput
      label={label}
      size="xs"
      w={{ base: '100%', xs: 200 }}
      placeholder={placeholder}
      value={field.text}
      maxLength={200}
      onChange={(event) => field.type(event.currentTarget.value)}
    />
  );
}

/**
 * State of a text filter; written to the URL after a pause in typing, without a history entry.
 *
 * @param isWhole whether a text is complete enough to search
 */
function useTypedFilter(name: string, isWhole: (text: string) => boolean = () => true) {
  const view = useViewState();
  const shown = view.get(name) ?? '';
  const [typed, setTyped] = useState({ text: shown, from: shown });
  const look = useDebouncedCallback((text: string) => {
    if (isWhole(text)) view.set({ [name]: text }, { replace: true });
  }, TYPING);
  return {
    // The URL may also change by the back button or a link to this list.
    text: typed.from === shown || typed.text.trim() === shown ? typed.text : shown,
    type(text: string) {
      setTyped({ text, from: shown });
      look(text.trim());
    },
  };
}

/** Earliest day. While a year is typed, it is 0002, 0020 and 0202 before 2026. */
const FIRST_DAY = '2000-01-01';
const LAST_DAY = '9999-12-31';

/** A day in the viewer's time zone, in the URL as `name`. */
export function DayFilter({ name, label }: { name: string; label: string }) {
  const field = useTypedFilter(name, (day) => day === '' || day >= FIRST_DAY);
  return (
    <TextInput
      type="date"
      label={label}
      size="xs"
      w={{ base: '100%', xs: 150 }}
      min={FIRST_DAY}
      max={LAST_DAY}
      value={field.text}
      onChange={(event) => field.type(event.currentTarget.value)}
    />
  );
}

/**
 * Empty state of a list that filters leave empty, or of one without any row.
 *
 * @param names parameters of the URL that filter the list
 */
export function NoRows({
  what,
  names,
  example,
  children,
}: {
  what: string;
  names: readonly string[];
  /** What the list looks like with rows. */
  example?: readonly (readonly string[])[];
  children: ReactNode;
}) {
  const view = useViewState();
  if (!names.some((name) => view.get(name)))
    return (
      <EmptyState title={`No ${what} yet`} {...(example && { example })}>
        {children}
      </EmptyState>
    );
  return (
    <EmptyState
      title={`No ${what} match these filters`}
      action={
        <Button
          variant="default"
          onClick={() => view.set(Object.fromEntries(names.map((name) => [name, null])))}
        >
          Clear filters
        </Button>
      }
    />
  );
}

/** The program filter, in the URL. */
export function ProgramFilter() {
  const programs = usePrograms();
  return (
    <ChoiceFilter
      name="program"
      label="Program"
      all="All programs"
      choices={programs.map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}

/** The programs of the workspace; empty while loading. */
export function usePrograms() {
  return useApi<Programs>('/programs').data?.programs ?? [];
}

/** The partner groups of the workspace; empty while loading. */
export function useGroups() {
  return useApi<PartnerGroups>('/partner-groups', { limit: 200 }).data?.partner_groups ?? [];
}
