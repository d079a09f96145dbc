import { useRef } from 'react';

/**
 * Returns whether the text of a field has changed since the failure came. What the failure says about the field may no
 * longer be true then.
 */
export function useChangedSince<Draft extends object>(
  error: unknown,
  draft: Draft,
): (name: keyof Draft) => boolean {
  const failed = useRef({ error, draft });
  if (failed.current.error !== error) failed.current = { error, draft };
  const { draft: sent } = failed.current;
  return (name) => typeof draft[name] === 'string' && draft[name] !== sent[name];
}
