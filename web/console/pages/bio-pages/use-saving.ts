import { useState } from 'react';
import { useSend } from '../../api/queries.ts';
import type { BioPage } from './answers.ts';
import { bodyOf, type Draft, draftOf, isSame, type PageBody } from './draft.ts';
import { type Problem, problemsOf, refusedFields } from './problems.ts';

/** A page that is being edited, and the last that the API is known to have. */
export type Saving = {
  saved: BioPage;
  draft: Draft;
  change: (fields: Partial<Draft>) => void;
  isDirty: boolean;
  isSaving: boolean;
  isDone: boolean;
  /** Of the last try. */
  problems: Problem[];
  /** Why the last try failed; null: it did not, or nothing was sent. */
  error: unknown;
  save: () => void;
  discard: () => void;
};

/**
 * Edits a copy of the page; nothing changes for visitors before it is saved.
 *
 * @param onProblems told of what stands in the way of a save, at least one
 */
export function useSaving(page: BioPage, onProblems: (problems: Problem[]) => void): Saving {
  const [saved, setSaved] = useState(page);
  const [draft, setDraft] = useState(() => draftOf(page));
  const [problems, setProblems] = useState<Problem[]>([]);
  const send = useSend<PageBody, BioPage>(
    (body) => ({ path: `/bio-pages/${page.id}`, method: 'PATCH', body }),
    { refresh: ['/bio-pages'], tellFailure: false },
  );
  const tell = (found: Problem[]) => {
    setProblems(found);
    if (found.length > 0) onProblems(found);
  };
  return {
    saved,
    draft,
    change: (fields) => setDraft((before) => ({ ...before, ...fields })),
    isDirty: !isSame(draft, draftOf(saved)),
    isSaving: send.isPending,
    isDone: send.isSuccess,
    problems,
    error: send.error,
    save() {
      const sent = draft;
      send.reset();
      const found = problemsOf(sent);
      tell(found);
      if (found.length > 0) return;
      send.mutate(bodyOf(sent), {
        onSuccess: (got) => {
          setSaved(got);
          // What was typed while it was being saved stays.
          setDraft((now) => (now === sent ? draftOf(got) : now));
        },
        onError: (error) => tell(refusedFields(error, sent)),
      });
    },
    discard() {
      send.reset();
      setProblems([]);
      setDraft(draftOf(saved));
    },
  };
}
