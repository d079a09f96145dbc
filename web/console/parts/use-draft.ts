import { type ChangeEvent, useState } from 'react';
import { fieldSentence } from '../api/sentence.ts';
import { isAlike } from './changed-fields.ts';
import { useChangedSince } from './use-changed-since.ts';

/** The input of a form, and the failure of the change that it sends. */
export type Form<Draft> = {
  draft: Draft;
  error: unknown;
  change: (part: Partial<Draft>) => void;
  /** Whether a field has changed since the failure. Its error is left out then. */
  isChanged?: (name: keyof Draft) => boolean;
};

type KeyOf<Draft, Value> = { [Key in keyof Draft]: Draft[Key] extends Value ? Key : never }[keyof Draft] &
  string;
type TextChange = { currentTarget: { value: string } };

/** Returns the props of a form's fields. A field shows what the failure says about its path, by default its name. */
export function fieldsOf<Draft extends object>({ draft, error, change, isChanged }: Form<Draft>) {
  const wrong = (name: keyof Draft, path: string, called = '') =>
    isChanged?.(name) ? null : fieldSentence(error, path, called);
  const set = (name: keyof Draft, value: unknown) => change({ [name]: value } as Partial<Draft>);
  return {
    /**
     * Props of a field with text.
     *
     * @param called the name that begins its error
     */
    text: <Key extends KeyOf<Draft, string>>(name: Key, path: string = name, called = '') => ({
      value: draft[name],
      error: wrong(name, path, called),
      onChange: ({ currentTarget }: TextChange) => set(name, currentTarget.value),
    }),
    /** Props of a checkbox. */
    check: <Key extends KeyOf<Draft, boolean>>(name: Key) => ({
      checked: draft[name],
      onChange: (event: ChangeEvent<HTMLInputElement>) => set(name, event.currentTarget.checked),
    }),
    /** Props of a field that gives its value, such as an address or a choice. A choice stays chosen. */
    choice: <Key extends KeyOf<Draft, string>>(name: Key, path: string = name) => ({
      value: draft[name],
      error: wrong(name, path),
      onChange: (value: string | null) => set(name, value ?? draft[name]),
    }),
  };
}

/**
 * The input of a form, with the props of its fields.
 *
 * @param initial what the form begins with; later values are ignored: they would overwrite what was typed
 */
export function useDraft<Draft extends object>(initial: Draft | (() => Draft), error: unknown = null) {
  const [before] = useState(initial);
  const [draft, setDraft] = useState(before);
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const isChanged = useChangedSince(error, draft);
  const form: Form<Draft> = { draft, error, change, isChanged };
  return { ...form, ...fieldsOf(form), form, before, isDirty: !isAlike(draft, before) };
}
