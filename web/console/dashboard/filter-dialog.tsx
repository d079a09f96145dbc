import { Button, Checkbox, Group, NativeSelect, ScrollArea, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { type Dimension, OPERATORS, type Operator } from '../../../core/analytics/dimensions.ts';
import { formatCount } from '../formats.ts';
import { AT_ONCE, FormDialog } from '../parts/form-dialog.tsx';
import { Note } from '../parts/note.tsx';
import { QueryView } from '../parts/query-view.tsx';
import {
  DIMENSION_NAMES,
  FILTERED_DIMENSIONS,
  flagBeside,
  ID_DIMENSIONS,
  valueIn,
  valueName,
} from './dimensions.ts';
import { OPERATOR_NAMES } from './filter-words.ts';
import { baseOf, useAnalytics, useSource } from './source.ts';
import { useView } from './use-view.ts';
import { type Filter, filterText } from './view.ts';

/** Values that the dialog offers: those with the most clicks. */
const OFFERED = 200;

const operatorsOf = (dimension: Dimension): Operator[] =>
  OPERATORS.filter((operator) => !ID_DIMENSIONS.has(dimension) || !operator.startsWith('contains'));

/** Adds a filter, or changes one. */
export default function FilterDialog({ filter, close }: { filter: Filter | null; close: () => void }) {
  const { view, setFilters } = useView();
  const [dimension, setDimension] = useState<Dimension>(filter?.dimension ?? 'country');
  const [operator, setOperator] = useState<Operator>(filter?.operator ?? 'is');
  const [values, setValues] = useState<string[]>(filter?.values ?? []);
  const isText = operator === 'contains' || operator === 'contains_not';
  const isReady = operator === 'is_empty' || values.some((value) => value.trim() !== '');

  const submit = () => {
    const made = { dimension, operator, values: operator === 'is_empty' ? [] : values };
    const at = view.filters.findIndex((one) => isSame(one, filter));
    setFilters(at === -1 ? [...view.filters, made] : view.filters.with(at, made));
    close();
  };

  return (
    <FormDialog
      title={filter ? 'Change the filter' : 'Add a filter'}
      close={close}
      send={AT_ONCE}
      submit={submit}
      label="Apply"
      isReady={isReady}
    >
      <Group grow gap="sm" align="flex-end">
        <NativeSelect
          label="Filter by"
          data-autofocus
          data={FILTERED_DIMENSIONS.map((one) => ({ value: one, label: DIMENSION_NAMES[one] ?? one }))}
          value={dimension}
          onChange={(event) => {
            const chosen = event.currentTarget.value as Dimension;
            setDimension(chosen);
            setValues([]);
            if (!operatorsOf(chosen).includes(operator)) setOperator('is');
          }}
        />
        <NativeSelect
          label="Condition"
          data={operatorsOf(dimension).map((one) => ({ value: one, label: OPERATOR_NAMES[one] }))}
          value={operator}
          onChange={(event) => {
            const chosen = event.currentTarget.value as Operator;
            const becomesText = chosen.startsWith('contains');
            if (becomesText !== isText) setValues([]);
            setOperator(chosen);
          }}
        />
      </Group>
      {isText && (
        <TextInput
          label="Text"
          description="Upper and lower case are equal."
          value={values[0] ?? ''}
          maxLength={500}
          onChange={(event) => setValues([event.currentTarget.value])}
        />
      )}
      {(operator === 'is' || operator === 'is_not') && (
        <ValueChoice
          key={dimension}
          dimension={dimension}
          edited={filter}
          values={values}
          choose={setValues}
        />
      )}
    </FormDialog>
  );
}

const isSame = (one: Filter, other: Filter | null) => other !== null && filterText(one) === filterText(other);

type ChoiceProps = {
  dimension: Dimension;
  /** The filter that is changed: it does not narrow the offer. */
  edited: Filter | null;
  values: readonly string[];
  choose: (values: string[]) => void;
};

function ValueChoice({ dimension, edited, values, choose }: ChoiceProps) {
  const { view } = useView();
  const source = useSource();
  const [search, setSearch] = useState('');
  const query = useAnalytics({
    ...baseOf(
      {
        ...view,
        comparison: { kind: 'none' },
        filters: view.filters.filter((one) => !isSame(one, edited) && one.dimension !== dimension),
      },
      source,
    ),
    metrics: ['clicks'],
    dimensions: [dimension],
    limit: OFFERED,
  });
  const toggle = (value: string) =>
    choose(values.includes(value) ? values.filter((one) => one !== value) : [...values, value]);
  const wanted = search.trim().toLowerCase();
  return (
    <>
      <TextInput
        label="Values"
        placeholder="Search"
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && wanted !== '') event.preventDefault();
        }}
      />
      <QueryView query={query} lines={5}>
        {({ rows, names }) => {
          const offered = rows.flatMap((row) => {
            const value = valueIn(row, dimension);
            return value === null ? [] : [{ value, clicks: row.metrics.clicks ?? 0 }];
          });
          const missing = values.filter((value) => !offered.some((one) => one.value === value));
          const shown = [...missing.map((value) => ({ value, clicks: 0 })), ...offered].filter(({ value }) =>
            `${valueName(dimension, value, names)} ${value}`.toLowerCase().includes(wanted),
          );
          const isFree = search.trim() !== '' && !ID_DIMENSIONS.has(dimension) && shown.length === 0;
          return (
            <ScrollArea.Autosize mah={260} type="auto" offsetScrollbars viewportProps={{ tabIndex: -1 }}>
              <Stack gap={6} role="group" aria-label={`Values of ${DIMENSION_NAMES[dimension]}`}>
                {shown.map(({ value, clicks }) => (
                  <Checkbox
                    key={value}
                    checked={values.includes(value)}
                    onChange={() => toggle(value)}
                    label={`${flagBeside(dimension, value)} ${valueName(dimension, value, names)} (${formatCount(clicks)})`.trim()}
                  />
                ))}
                {isFree && (
                  <Button
                    variant="default"
                    size="xs"
                    onClick={() => {
                      toggle(search.trim());
                      setSearch('');
                    }}
                  >
                    Use “{search.trim()}”
                  </Button>
                )}
                {shown.length === 0 && !isFree && <Note>No values in this period</Note>}
              </Stack>
            </ScrollArea.Autosize>
          );
        }}
      </QueryView>
    </>
  );
}
