import { TextInput } from '@mantine/core';
import { hexOf, isColour } from './colours.ts';

/** A colour: picked, or written as CSS knows it. */
export function ColourField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (colour: string) => void;
}) {
  return (
    <TextInput
      label={label}
      value={value}
      maxLength={64}
      spellCheck={false}
      leftSectionWidth={48}
      leftSectionPointerEvents="all"
      leftSection={
        <input
          type="color"
          className="colour-field"
          aria-label={`Pick: ${label}`}
          value={hexOf(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      }
      error={isColour(value) ? null : 'Not a colour'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
