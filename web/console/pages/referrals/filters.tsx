import { Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import type { Programs } from './responses.ts';
import { useViewState } from './view-state.ts';

/** How long after the last key a text is looked for. Milliseconds. */
const TYPING = 300;

type Choice = { value: string; label: string };

/** A filter with few values, in the page's URL under `name`. */
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

/** A filter by text, in the page's URL under `name`. */
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
 * What is typed into a filter; it comes into the page's URL when the typing pauses, without a step in the history.
 *
 * @param isWhole whether a text can be looked for as it stands; another is only shown
 */
function useTypedFilter(name: string, isWhole: (text: string) => boolean = () => true) {
  const view = useViewState();
  const shown = view.get(name) ?? '';
  const [typed, setTyped] = useState({ text: shown, from: shown });
  const look = useDebouncedCallback((text: string) => {
    if (isWhole(text)) view.set({ [name]: text }, { replace: true });
  }, TYPING);
  return {
    // The URL may have changed by other means: back, or a link to this very list.
    text: typed.from === shown || typed.text.trim() === shown ? typed.text : shown,
    type(text: string) {
      setTyped({ text, from: shown });
      look(text.trim());
    },
  };
}

/** Nothing is older; and a year that is being typed is 0002, 0020 and 0202 before it is 2026. */
const FIRST_DAY = '2000-01-01';
const LAST_DAY = '9999-12-31';

/** A day of the viewer's, in the page's URL under `name`. */
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

/** The filter by program, in the page's URL. */
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

/** The programs of the workspace; none until they are known. */
export function usePrograms() {
  return useApi<Programs>('/programs').data?.programs ?? [];
}
