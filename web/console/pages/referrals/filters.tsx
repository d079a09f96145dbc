import { Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useApi } from '../../api/queries.ts';
import type { Programmes } from './answers.ts';
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
  const view = useViewState();
  const shown = view.get(name) ?? '';
  const [typed, setTyped] = useState({ text: shown, from: shown });
  const look = useDebouncedCallback(
    (text: string) => view.set({ [name]: text.trim() }, { replace: true }),
    TYPING,
  );
  // The URL may have changed by other means: back, or a link to this very list.
  const text = typed.from === shown || typed.text.trim() === shown ? typed.text : shown;
  return (
    <TextInput
      label={label}
      size="xs"
      w={{ base: '100%', xs: 200 }}
      placeholder={placeholder}
      value={text}
      maxLength={200}
      onChange={(event) => {
        setTyped({ text: event.currentTarget.value, from: shown });
        look(event.currentTarget.value);
      }}
    />
  );
}

/** A day of the viewer's, in the page's URL under `name`. */
export function DayFilter({ name, label }: { name: string; label: string }) {
  const view = useViewState();
  return (
    <TextInput
      type="date"
      label={label}
      size="xs"
      w={{ base: '100%', xs: 150 }}
      value={view.get(name) ?? ''}
      onChange={(event) => view.set({ [name]: event.currentTarget.value })}
    />
  );
}

/** The filter by programme, in the page's URL. */
export function ProgrammeFilter() {
  const programmes = useProgrammes();
  return (
    <ChoiceFilter
      name="programme"
      label="Programme"
      all="All programmes"
      choices={programmes.map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}

/** The programmes of the workspace; none until they are known. */
export function useProgrammes() {
  return useApi<Programmes>('/programs').data?.programs ?? [];
}
