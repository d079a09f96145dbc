import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { LinkRecord } from '../../api/links.ts';
import { useSession } from '../../api/session.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import { draftLike, EMPTY_DRAFT, type LinkDraft } from './form/link-draft.ts';
import { FormSkeleton, LinkForm } from './form/link-form.tsx';
import { MadeLinks } from './made-links.tsx';
import { MADE } from './made-notice.tsx';
import { useCreateLinks } from './use-create-links.ts';
import { useLink } from './use-link.ts';

/** Creates a link, or one per channel. `?like=ID` begins with the settings of that link, `?url=` with a destination. */
export default function NewLinkPage() {
  const { can } = useSession();
  const [search] = useSearchParams();
  const like = search.get('like');
  const address = search.get('url') ?? '';
  const model = useLink(can('operator') ? like : null);
  // `Make another` begins again.
  const [made, setMade] = useState<{ links: LinkRecord[]; draft: LinkDraft } | null>(null);
  const [start, setStart] = useState({ draft: EMPTY_DRAFT, nth: 0 });
  if (!can('operator')) {
    return (
      <>
        <PageHeader title="New link" />
        <EmptyState title="Your role cannot create links">Ask an operator of the workspace.</EmptyState>
      </>
    );
  }
  if (made) {
    const again = (draft: LinkDraft) => {
      setMade(null);
      setStart({ draft, nth: start.nth + 1 });
    };
    return (
      <MadeLinks
        links={made.links}
        again={() => again(EMPTY_DRAFT)}
        alike={() => again({ ...made.draft, slug: '', external_id: '' })}
      />
    );
  }
  const form = (before: LinkDraft) => (
    <NewLink
      key={`${start.nth} ${address}`}
      before={before}
      done={(links, draft) => setMade({ links, draft })}
    />
  );
  return (
    <>
      <PageHeader title="New link" />
      {like === null || start.nth > 0 ? (
        form(start.nth > 0 ? start.draft : { ...EMPTY_DRAFT, destination_url: address })
      ) : (
        <QueryView query={model} skeleton={<FormSkeleton />}>
          {(link) => form(draftLike(link))}
        </QueryView>
      )}
    </>
  );
}

type NewLinkProps = {
  /** The form's state at first. */
  before: LinkDraft;
  /** Several links were created. */
  done: (links: LinkRecord[], draft: LinkDraft) => void;
};

function NewLink({ before: given, done }: NewLinkProps) {
  const [, navigate] = useLocation();
  const [before] = useState(given);
  const [draft, setDraft] = useState<LinkDraft>(before);
  const { create, error, isPending } = useCreateLinks((links) => {
    const [only] = links;
    if (only && links.length === 1) navigate(`/links/${only.id}`, { state: MADE });
    else done(links, draft);
  });
  return (
    <>
      <LeaveGuard active={!isAlike(draft, before)}>Your input will be lost.</LeaveGuard>
      <LinkForm
        draft={draft}
        onChange={setDraft}
        existing={null}
        error={error}
        pending={isPending}
        submit={() => create(draft)}
        label="Create"
        back="/links"
      />
    </>
  );
}
