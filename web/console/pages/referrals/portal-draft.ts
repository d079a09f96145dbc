import type { Program } from './responses.ts';

type Portal = Program['portal'];

/** A question of the application. An empty name is made from the label. */
export type PortalRow = { key: number; name: string; label: string; required: boolean };

/** State of the form of a program's portal. Empty texts are none. */
export type PortalDraft = {
  is_open: boolean;
  review: Portal['review'];
  fields: PortalRow[];
  terms: 'none' | 'text' | 'url';
  terms_url: string;
  terms_text: string;
  terms_version: string;
  welcome_text: string;
  deep_links: boolean;
};

export function portalDraftOf({ portal }: Program): PortalDraft {
  const { fields, terms_url, terms_text, terms_version, welcome_text, ...rest } = portal;
  return {
    ...rest,
    fields: fields.map((field, key) => ({ ...field, key })),
    terms: terms_text !== null ? 'text' : terms_url !== null ? 'url' : 'none',
    terms_url: terms_url ?? '',
    terms_text: terms_text ?? '',
    terms_version: terms_version ?? '',
    welcome_text: welcome_text ?? '',
  };
}

/** Returns the body of the change. */
export function portalBody(draft: PortalDraft): { portal: Portal } {
  const { terms } = draft;
  const textOf = (text: string) => (text.trim() === '' ? null : text.trim());
  return {
    portal: {
      is_open: draft.is_open,
      review: draft.review,
      fields: draft.fields.map(({ name, label, required }, n) => ({
        name: name === '' ? nameOf(label, n, draft.fields) : name,
        label: label.trim(),
        required,
      })),
      terms_url: terms === 'url' ? textOf(draft.terms_url) : null,
      terms_text: terms === 'text' ? textOf(draft.terms_text) : null,
      terms_version: terms === 'none' ? null : textOf(draft.terms_version),
      welcome_text: textOf(draft.welcome_text),
      deep_links: draft.deep_links,
    },
  };
}

/** Returns a name for the answers to a question, which no other question has. */
function nameOf(label: string, n: number, rows: readonly PortalRow[]): string {
  const base =
    label
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^[^a-z]+|_+$/g, '')
      .slice(0, 36) || 'question';
  const taken = new Set([...rows.map(({ name }) => name), 'email', 'name']);
  const isOther = rows.findIndex((row) => row.name === '' && row.label === label) < n;
  return taken.has(base) || isOther ? `${base}_${n + 1}` : base;
}
