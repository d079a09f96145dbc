import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/call.ts';
import { questionOptions, refreshReads, useLatestMutation, useSend } from '../../api/queries.ts';
import { showUndo } from '../../parts/undo-notice.tsx';
import { afterSave, changesOf, deletedBy, type Field, onNewer, undoneBy } from './changes.ts';
import { type Draft, draftOf, type PageBody } from './draft.ts';
import { type Problem, problemsOf, refusedFields } from './problems.ts';
import type { BioPage } from './responses.ts';

/** Changes of someone else that a save would overwrite. */
export type Newer = {
  fields: Field[];
  /** Labels of buttons that a save would delete with short links and clicks. */
  deleted: string[];
  /** Loads the current page and keeps changes of other fields. */
  load: () => void;
  /** Saves anyway, unless the page changes again. */
  overwrite: () => void;
};

/** A page being edited, and its last known saved state. */
export type Saving = {
  saved: BioPage;
  draft: Draft;
  change: (fields: Partial<Draft>) => void;
  isDirty: boolean;
  isSaving: boolean;
  isDone: boolean;
  /** Of the last try. */
  problems: Problem[];
  /** Failure of the last save, or null. */
  error: unknown;
  /** Conflicting changes that stopped the last save, or null. */
  newer: Newer | null;
  save: () => void;
  /** Saves the page as a published one. */
  publish: () => void;
  discard: () => void;
};

/**
 * Edits a copy of the page; visitors see changes after a save.
 *
 * @param page as last read: without unsaved changes, a newer one replaces the copy
 * @param onProblems called with at least one problem
 */
export function useSaving(page: BioPage, onProblems: (problems: Problem[]) => void): Saving {
  const [edited, setEdited] = useState(() => ({ saved: page, draft: draftOf(page) }));
  const [problems, setProblems] = useState<Problem[]>([]);
  const [inTheWay, setInTheWay] = useState<{ now: BioPage; fields: Field[] } | null>(null);
  const { saved, draft } = edited;
  const queries = useQueryClient();
  const path = `/bio-pages/${page.id}`;
  const look = useLatestMutation({
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
  /** Says that the page was published, or not any more, and offers to undo that alone. */
  const offerUndo = (is_published: boolean) =>
    showUndo(is_published ? 'Page published' : 'Page no longer published', async () => {
      const back = { is_published: !is_published };
      await callApi<BioPage>(path, { method: 'PATCH', body: back });
      setEdited((now) => ({ saved: { ...now.saved, ...back }, draft: { ...now.draft, ...back } }));
      await refreshReads(queries, ['/bio-pages']);
    });
  /** @param seen the page as the person has seen it */
  const saveOver = (seen: BioPage, sent: Draft = draft) => {
    forget();
    const found = problemsOf(sent);
    tell(found);
    if (found.length > 0) return;
    const body = changesOf({ saved, draft: sent });
    look.mutate(undefined, {
      onSuccess: (now) => {
        const fields = undoneBy(body, seen, now);
        if (fields.length > 0) {
          setInTheWay({ now, fields });
          return;
        }
        send.mutate(body, {
          onSuccess: (got) => {
            setEdited((before) => afterSave(before, sent, got));
            if (body.is_published !== undefined) offerUndo(body.is_published);
          },
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
    publish() {
      const published = { ...draft, is_published: true };
      setEdited({ saved, draft: published });
      saveOver(saved, published);
    },
    discard() {
      forget();
      setEdited({ saved, draft: draftOf(saved) });
    },
  };
}
