import { TextInput } from '@mantine/core';

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

const isColour = (text: string) =>
  text.trim() !== '' &&
  CSS.supports('color', text) &&
  !/var|^(inherit|initial|unset|revert|currentcolor)/i.test(text.trim());

/** Any CSS colour as the browser's own picker takes it: opaque, in hex. */
function hexOf(text: string): string {
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !isColour(text)) return '#000000';
  context.fillStyle = text;
  context.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
