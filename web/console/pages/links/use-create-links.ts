import { useState } from 'react';
import type { CreatedLinks, LinkRecord } from '../../api/links.ts';
import { useSend } from '../../api/queries.ts';
import { createBody, DraftProblem, type LinkDraft } from './form/link-draft.ts';

/** Creates the links of a form: one, or one for each channel. */
export function useCreateLinks(made: (links: LinkRecord[]) => void) {
  const [problem, setProblem] = useState<DraftProblem | null>(null);
  const create = useSend<Record<string, unknown>, CreatedLinks>(
    (body) => ({ path: '/links', body, once: true }),
    { refresh: ['/links', '/folders', '/analytics'], tellFailure: false },
  );
  return {
    /** Failure of the last attempt, or null. */
    error: problem ?? create.error,
    isPending: create.isPending,
    create(draft: LinkDraft): void {
      setProblem(null);
      let body: Record<string, unknown>;
      try {
        body = createBody(draft);
      } catch (error) {
        if (!(error instanceof DraftProblem)) throw error;
        setProblem(error);
        return;
      }
      create.mutate(body, { onSuccess: ({ links }) => made(links) });
    },
  };
}
