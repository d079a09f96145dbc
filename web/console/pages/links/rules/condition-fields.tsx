import {
  ActionIcon,
  Chip,
  Group,
  Input,
  NativeSelect,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { CONDITION_TYPES, kindOf } from '../../../../../core/links/rules/conditions.ts';
import { QUERY_OPERATORS, VALUE_OPERATORS } from '../../../../../core/links/rules/types.ts';
import { ConditionValues } from './condition-values.tsx';
import { DAY_NAMES, OPERATOR_NAMES } from './condition-words.ts';
import type { ConditionDraft } from './rule-drafts.ts';

type Props = {
  condition: ConditionDraft;
  /** `Condition 2 of rule 1`, for screen readers. */
  label: string;
  /** As the API names it: `rules.0.conditions.1`. */
  path: string;
  wrong: (path: string) => string | null;
  onChange: (condition: ConditionDraft) => void;
  /** Null: a rule's only condition. */
  onRemove: (() => void) | null;
};

/** The fields of a condition. */
export function ConditionFields({ condition, label, path, wrong, onChange, onRemove }: Props) {
  const { type } = condition;
  const set = (fields: Partial<ConditionDraft>) => onChange({ ...condition, ...fields });
  const parts = { condition, label, path, wrong, set };
  return (
    <div className="rule-condition">
      <div className="rule-condition-fields">
        <NativeSelect
          aria-label={`${label}: type`}
          data={CONDITION_TYPES.map((value) => ({ value, label: kindOf(value).label }))}
          value={type}
          error={wrong(`${path}.type`)}
          onChange={({ currentTarget: { value } }) => {
            const chosen = CONDITION_TYPES.find((known) => known === value);
            if (chosen) set({ type: chosen, operator: 'is', values: [] });
          }}
        />
        {type === 'time' ? (
          <TimeFields {...parts} />
        ) : type === 'weekly' ? (
          <WeeklyFields {...parts} />
        ) : type === 'query' ? (
          <QueryFields {...parts} />
        ) : (
          <>
            <OperatorField {...parts} operators={VALUE_OPERATORS} />
            <ConditionValues
              type={type}
              values={condition.values}
              label={`${label}: values`}
              error={wrong(`${path}.values`)}
              onChange={(values) => set({ values })}
            />
          </>
        )}
      </div>
      {onRemove && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={`Remove ${label.toLowerCase()}`}
          onClick={onRemove}
        >
          <IconX size={16} />
        </ActionIcon>
      )}
    </div>
  );
}

type Parts = Omit<Props, 'onChange' | 'onRemove'> & { set: (fields: Partial<ConditionDraft>) => void };

function OperatorField({
  condition,
  label,
  path,
  wrong,
  set,
  operators,
}: Parts & { operators: readonly (keyof typeof OPERATOR_NAMES)[] }) {
  return (
    <NativeSelect
      aria-label={`${label}: operator`}
      data={operators.map((value) => ({ value, label: OPERATOR_NAMES[value] }))}
      value={condition.operator}
      error={wrong(`${path}.operator`)}
      onChange={({ currentTarget: { value } }) => {
        const operator = operators.find((known) => known === value);
        if (operator) set({ operator });
      }}
    />
  );
}

function QueryFields(parts: Parts) {
  const { condition, label, path, wrong, set } = parts;
  return (
    <>
      <TextInput
        aria-label={`${label}: parameter`}
        placeholder="utm_source"
        spellCheck={false}
        value={condition.name}
        error={wrong(`${path}.name`)}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <OperatorField {...parts} operators={QUERY_OPERATORS} />
      {condition.operator !== 'exists' && (
        <TagsInput
          className="rule-query-values"
          aria-label={`${label}: values`}
          {...(condition.values.length === 0 && { placeholder: 'Enter after each value' })}
          value={condition.values}
          error={wrong(`${path}.values`)}
          onChange={(values) => set({ values })}
          clearable
        />
      )}
    </>
  );
}

function TimeFields({ condition, label, path, wrong, set }: Parts) {
  const [after, before] = [wrong(`${path}.after`), wrong(`${path}.before`)];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" className="rule-condition-wide">
      <TextInput
        type="datetime-local"
        {...stepOf(condition.after)}
        label="From"
        aria-label={`${label}: from`}
        value={condition.after}
        // Without either time, the error concerns the whole condition.
        error={after ?? (before ? null : wrong(path))}
        onChange={(event) => set({ after: event.currentTarget.value })}
      />
      <TextInput
        type="datetime-local"
        {...stepOf(condition.before)}
        label="Until"
        aria-label={`${label}: until`}
        value={condition.before}
        error={before}
        onChange={(event) => set({ before: event.currentTarget.value })}
      />
    </SimpleGrid>
  );
}

/** Without a step, a browser refuses a time with seconds. */
const stepOf = (local: string) => (local.length > 16 ? { step: 1 } : {});

function WeeklyFields({ condition, label, path, wrong, set }: Parts) {
  const { days, from, to, time_zone } = condition;
  return (
    <Stack gap="xs" className="rule-condition-wide">
      <Input.Wrapper error={wrong(`${path}.days`)}>
        <Group gap={6} role="group" aria-label={`${label}: days`}>
          {DAY_NAMES.map((name, nth) => (
            <Chip
              key={name}
              size="xs"
              checked={days.includes(nth + 1)}
              onChange={(on) =>
                set({ days: on ? [...days, nth + 1].sort() : days.filter((day) => day !== nth + 1) })
              }
            >
              {name}
            </Chip>
          ))}
        </Group>
      </Input.Wrapper>
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs">
        <TextInput
          type="time"
          label="From"
          aria-label={`${label}: from`}
          value={from}
          error={wrong(`${path}.from`)}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
        <TextInput
          type="time"
          label="To"
          aria-label={`${label}: to`}
          value={to}
          error={wrong(`${path}.to`)}
          onChange={(event) => set({ to: event.currentTarget.value })}
        />
        <NativeSelect
          label="Time zone"
          aria-label={`${label}: time zone`}
          data={timeZones(time_zone)}
          value={time_zone}
          error={wrong(`${path}.time_zone`)}
          onChange={(event) => set({ time_zone: event.currentTarget.value })}
        />
      </SimpleGrid>
    </Stack>
  );
}

/** Every time zone of the browser, and the chosen one. */
function timeZones(chosen: string): string[] {
  return [...new Set(['UTC', chosen, ...Intl.supportedValuesOf('timeZone')])].sort();
}
