import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { useLatestMutation, useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { changeBody, draftOf } from './form/link-draft.ts';
import { FormSkeleton, LinkForm } from './form/link-form.tsx';
import { backOf } from './set-each.ts';
import { readLink, useLink } from './use-link.ts';

/** Edits a link and its campaign. */
export default function EditLinkPage() {
  const { id } = useParams<{ id: string }>();
  const { can, workspace } = useSession();
  const mayChange = can('operator') && workspace.paid;
  const link = useLink(mayChange ? id : null);
  return (
    <>
      <PageHeader title="Edit link" />
      {mayChange ? (
        <QueryView query={link} skeleton={<FormSkeleton />}>
          {(record) => <EditForm key={record.id} link={record} />}
        </QueryView>
      ) : can('operator') ? (
        <EmptyState title="Editing links requires an active paid plan">
          Without one, links can be created and deleted.
        </EmptyState>
      ) : (
        <EmptyState title="Your role cannot edit links">Ask an operator of the workspace.</EmptyState>
      )}
    </>
  );
}

function EditForm({ link }: { link: LinkRecord }) {
  const [, navigate] = useLocation();
  const back = `/links/${link.id}`;
  // As it was when the form opened: unchanged fields must not overwrite changes of someone else.
  const [before] = useState(() => draftOf(link));
  const [draft, setDraft] = useState(before);
  const send = useSend<Record<string, unknown>, LinkRecord>(
    (body) => ({ path: `/links/${link.id}`, method: 'PATCH', body }),
    {
      refresh: ['/links', '/folders'],
      done: 'Saved',
      undo: (_, sent) => {
        const body = backOf(sent, before);
        return body && { path: `/links/${link.id}`, method: 'PATCH', body };
      },
      tellFailure: false,
    },
  );
  const save = useLatestMutation({
    mutationFn: async (): Promise<void> => {
      const body = changeBody(before, draft, before);
      if (Object.keys(body).length === 0) return;
      const isOfParts = 'targeting' in body || 'retargeting' in body;
      const now = isOfParts ? draftOf(await readLink(link.id)) : before;
      await send.mutateAsync(changeBody(before, draft, now));
    },
  });
  return (
    <>
      <LeaveGuard active={!isAlike(draft, before)} />
      <LinkForm
        draft={draft}
        onChange={setDraft}
        existing={link}
        error={save.error}
        pending={save.isPending}
        submit={() => save.mutate(undefined, { onSuccess: () => navigate(back) })}
        label="Save"
        back={back}
      />
    </>
  );
}
