import type { ComponentType } from 'react';
import type { LinkDraft } from './link-draft.ts';

/** Props of a form's fields. */
export type FormFields = {
  draft: LinkDraft;
  set: <Field extends keyof LinkDraft>(field: Field, value: LinkDraft[Field]) => void;
  /** Sets several fields together. */
  fill: (part: Partial<LinkDraft>) => void;
  /** The error of the field that the API calls `path`, or null. */
  wrong: (path: string) => string | null;
  /** The existing link; null for a new one. */
  existing: { password_protected: boolean } | null;
};

/** A closed section of the form. */
export type LinkFormSection = {
  title: string;
  /** What can be set in it. */
  hint: string;
  /** Its fields, as the API names them, with those inside: `rules.0.conditions`. Their errors open it. */
  paths: RegExp;
  /** What is set in it, in a few words; null: nothing. */
  words: (draft: LinkDraft, existing: FormFields['existing']) => string | null;
  Fields: ComponentType<FormFields>;
};

/** Joins the words that are set; null when none is. */
export function joined(...words: (string | false | null)[]): string | null {
  const said = words.filter((word) => word !== false && word !== null && word !== '');
  return said.length === 0 ? null : said.join(', ');
}
