import { TextInput, type TextInputProps } from '@mantine/core';
import { useRef } from 'react';
import { cleanAddress } from './clean-address.ts';
import { useFirstFocus } from './use-first-focus.ts';

type Props = Pick<
  TextInputProps,
  'label' | 'description' | 'placeholder' | 'required' | 'error' | 'maxLength' | 'flex'
> & {
  value: string;
  onChange: (value: string) => void;
  /** Called with the address once a changed one is complete. */
  onEntered?: (address: string) => void;
  /** Has the focus when the form opens. */
  isFirst?: boolean;
};

/**
 * A field for an address of the web or of an app. What is pasted is cleaned at once, what is typed when the field is
 * left or sent: `https://` is put in front, and shown. Not `type="url"`, whose check would refuse `example.com`.
 */
export function AddressField({ onChange, onEntered, value, isFirst = false, ...field }: Props) {
  const isChanged = useRef(false);
  const input = useFirstFocus<HTMLInputElement>(isFirst);
  const finish = () => {
    const clean = cleanAddress(value);
    if (clean !== value) onChange(clean);
    if (isChanged.current) onEntered?.(clean);
    isChanged.current = false;
  };
  return (
    <TextInput
      maxLength={4_096}
      {...field}
      ref={input}
      // In a dialog, which leads the focus to a field of its own choice.
      data-autofocus={isFirst || undefined}
      inputMode="url"
      autoCapitalize="none"
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={(event) => {
        isChanged.current = true;
        onChange(event.currentTarget.value);
      }}
      onBlur={finish}
      onKeyDown={({ key }) => key === 'Enter' && finish()}
      onPaste={(event) => {
        const { selectionStart, selectionEnd } = event.currentTarget;
        const isWhole = selectionStart === 0 && selectionEnd === value.length;
        const pasted = event.clipboardData?.getData('text') ?? '';
        const clean = cleanAddress(pasted);
        if (!isWhole || clean === pasted || clean === '') return;
        event.preventDefault();
        isChanged.current = true;
        onChange(clean);
      }}
    />
  );
}
