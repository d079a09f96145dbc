import { TextInput } from '@mantine/core';
import { hexOf, isColor } from './colors.ts';

/** A color picker with a text field for CSS colors. */
export function ColorField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (color: string) => void;
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
          className="color-field"
          aria-label={`Pick: ${label}`}
          value={hexOf(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      }
      error={isColor(value) ? null : 'Not a color'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
