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
 * A field for a web or app URL. Pasted text is cleaned at once, typed text when the field loses the focus or the form
 * is sent: `https://` is added, and shown. Not `type="url"`, whose check would refuse `example.com`.
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
      // For dialogs, which otherwise focus a field of their own choice.
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
