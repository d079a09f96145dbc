import { TextInput } from '@mantine/core';
import { hexOf, isColor } from './css-colors.ts';

/** A color picker with a text field for CSS colors. */
export function ColorField({
  label,
  value,
  onChange,
  error = null,
}: {
  label: string;
  value: string;
  onChange: (color: string) => void;
  /** The error of a color that is valid in CSS. */
  error?: string | null;
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
      error={isColor(value) ? error : 'Not a color'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
