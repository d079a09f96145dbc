import { useState } from 'react';

export type Edits<Draft> = {
  /** The fields as they are shown. */
  draft: Draft;
  change(part: Partial<Draft>): void;
  discard(): void;
  /** Ends the edits that were sent. What was typed meanwhile stays. */
  saved(sent: Draft): void;
};

/**
 * The edits of a form over settings that others may change too. A field that was not edited shows the server's value,
 * so another member's change shows without replacing what was typed.
 *
 * @param before the settings of the last response
 */
export function useEdits<Draft extends Record<string, unknown>>(before: Draft): Edits<Draft> {
  const [edits, setEdits] = useState<Partial<Draft>>({});
  return {
    draft: { ...before, ...edits },
    // A value that equals that of the server is not an edit: it would hide later changes.
    change: (part) => setEdits((now) => without({ ...now, ...part }, before)),
    discard: () => setEdits({}),
    saved: (sent) => setEdits((now) => without(now, sent)),
  };
}

/** The edits whose values differ from these. */
function without<Draft extends Record<string, unknown>>(
  edits: Partial<Draft>,
  values: Draft,
): Partial<Draft> {
  return Object.fromEntries(
    Object.entries(edits).filter(([field, value]) => value !== values[field]),
  ) as Partial<Draft>;
}
