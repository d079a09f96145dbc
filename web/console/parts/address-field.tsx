import { TextInput } from '@mantine/core';
import { cleanAddress } from './clean-address.ts';
import { useFirstFocus } from './use-first-focus.ts';

type Props = {
  label: string;
  description?: string;
  value: string;
  error: string | null;
  onChange: (value: string) => void;
  required?: boolean;
  /** Has the focus when the form opens. */
  isFirst?: boolean;
};

/**
 * A field for an address of the web or of an app. What is pasted is cleaned at once, what is typed when the field is
 * left: `https://` is put in front, and shown. Not `type="url"`, whose check would refuse `example.com`.
 */
export function AddressField({ onChange, value, isFirst = false, ...field }: Props) {
  const input = useFirstFocus<HTMLInputElement>(isFirst);
  return (
    <TextInput
      {...field}
      ref={input}
      inputMode="url"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      maxLength={4_096}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      onBlur={() => {
        const clean = cleanAddress(value);
        if (clean !== value) onChange(clean);
      }}
      onPaste={(event) => {
        const { selectionStart, selectionEnd } = event.currentTarget;
        const isWhole = selectionStart === 0 && selectionEnd === value.length;
        const pasted = event.clipboardData?.getData('text') ?? '';
        const clean = cleanAddress(pasted);
        if (!isWhole || clean === pasted || clean === '') return;
        event.preventDefault();
        onChange(clean);
      }}
    />
  );
}
