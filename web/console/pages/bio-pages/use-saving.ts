import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/call.ts';
import { questionOptions, useSend } from '../../api/queries.ts';
import { afterSave, changesOf, deletedBy, type Field, onNewer, undoneBy } from './changes.ts';
import { type Draft, draftOf, type PageBody } from './draft.ts';
import { type Problem, problemsOf, refusedFields } from './problems.ts';
import type { BioPage } from './responses.ts';

/** What somebody else did to the page meanwhile, where a save would undo it. */
export type Newer = {
  fields: Field[];
  /** Labels of the buttons that would be deleted with their short links and clicks. */
  deleted: string[];
  /** Shows the page as it is now, with the changes of other fields. */
  load: () => void;
  /** Saves all the same, unless the page changes once more. */
  overwrite: () => void;
};

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
  /** Why nothing was sent; null: nothing of anybody else's was in the way. */
  newer: Newer | null;
  save: () => void;
  discard: () => void;
};

/**
 * Edits a copy of the page; nothing changes for visitors before it is saved.
 *
 * @param page as it was last read: while nothing is changed, a newer one takes the place of the copy
 * @param onProblems told of what stands in the way of a save, at least one
 */
export function useSaving(page: BioPage, onProblems: (problems: Problem[]) => void): Saving {
  const [edited, setEdited] = useState(() => ({ saved: page, draft: draftOf(page) }));
  const [problems, setProblems] = useState<Problem[]>([]);
  const [inTheWay, setInTheWay] = useState<{ now: BioPage; fields: Field[] } | null>(null);
  const { saved, draft } = edited;
  const queries = useQueryClient();
  const path = `/bio-pages/${page.id}`;
  const look = useMutation({
    mutationFn: () => callApi<BioPage>(path),
    onSuccess: (now) => {
      queries.setQueryData(questionOptions<BioPage>({ path, query: {} }).queryKey, now);
    },
  });
  const send = useSend<Partial<PageBody>, BioPage>((body) => ({ path, method: 'PATCH', body }), {
    refresh: ['/bio-pages'],
    tellFailure: false,
  });
  const isDirty = Object.keys(changesOf(edited)).length > 0;
  const isSaving = look.isPending || send.isPending;
  if (!isDirty && !isSaving && page !== saved && page.updated_at >= saved.updated_at) {
    setEdited({ saved: page, draft: draftOf(page) });
    setInTheWay(null);
  }

  const tell = (found: Problem[]) => {
    setProblems(found);
    if (found.length > 0) onProblems(found);
  };
  const forget = () => {
    look.reset();
    send.reset();
    setInTheWay(null);
    setProblems([]);
  };
  /** @param seen the page as the person knows it */
  const saveOver = (seen: BioPage) => {
    const sent = draft;
    forget();
    const found = problemsOf(sent);
    tell(found);
    if (found.length > 0) return;
    const body = changesOf(edited);
    look.mutate(undefined, {
      onSuccess: (now) => {
        const fields = undoneBy(body, seen, now);
        if (fields.length > 0) {
          setInTheWay({ now, fields });
          return;
        }
        send.mutate(body, {
          onSuccess: (got) => setEdited((before) => afterSave(before, sent, got)),
          onError: (error) => tell(refusedFields(error, sent)),
        });
      },
    });
  };
  return {
    saved,
    draft,
    change: (fields) => setEdited((before) => ({ ...before, draft: { ...before.draft, ...fields } })),
    isDirty,
    isSaving,
    isDone: send.isSuccess,
    problems,
    error: look.error ?? send.error,
    newer: inTheWay && {
      fields: inTheWay.fields,
      deleted: inTheWay.fields.includes('links') ? deletedBy(draft, inTheWay.now) : [],
      load() {
        forget();
        setEdited(onNewer(edited, inTheWay.now));
      },
      overwrite: () => saveOver(inTheWay.now),
    },
    save: () => saveOver(saved),
    discard() {
      forget();
      setEdited({ saved, draft: draftOf(saved) });
    },
  };
}
