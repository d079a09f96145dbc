import { MultiSelect, TagsInput } from '@mantine/core';
import { type ValueType, valueKind } from '../../../../../core/links/rules/conditions.ts';
import { conditionValueName } from './condition-words.ts';

type Props = {
  type: ValueType;
  values: string[];
  /** For screen readers. */
  label: string;
  error: string | null;
  onChange: (values: string[]) => void;
};

/** The values of a condition: chosen from all there are, or typed where there are too many. */
export function ConditionValues({ type, values, label, error, onChange }: Props) {
  const field = {
    'aria-label': label,
    value: values,
    error: error !== null && values.length === 0 ? 'must have at least one value' : error,
    onChange,
    clearable: true,
    // A field with an error gets the focus, and an open list would hide the message.
    openOnFocus: false,
  };
  const { known, suggested = [], example } = valueKind(type);
  if (known === undefined) {
    return (
      <TagsInput
        {...field}
        {...(values.length === 0 && { placeholder: example })}
        data={suggested}
        splitChars={[',']}
      />
    );
  }
  return (
    <MultiSelect
      {...field}
      searchable
      // Enter takes what was typed, rather than submit the form without it.
      selectFirstOptionOnChange
      {...(values.length === 0 && { placeholder: 'Choose' })}
      nothingFoundMessage="Nothing found"
      data={choicesOf(type)}
    />
  );
}

const choices = new Map<ValueType, { value: string; label: string }[]>();

/**
 * All values of a type: countries in the order of their names. Created once, because a form renders on every keystroke.
 */
export function choicesOf(type: ValueType): { value: string; label: string }[] {
  const made =
    choices.get(type) ??
    (valueKind(type).known ?? []).map((value) => ({ value, label: conditionValueName(type, value) }));
  if (type === 'country') made.sort((one, other) => one.label.localeCompare(other.label));
  choices.set(type, made);
  return made;
}
