import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { showSession } from '../api/keep-to-session.ts';
import { afterSuccess, useSend } from '../api/queries.ts';
import type { ResponseOf } from '../api/responses.ts';
import { SESSION_QUERY, type Session } from '../api/session.ts';
import { giveUpUnsaved, leaveBy } from './leaving.ts';

/** The ways into the sample shop and out of it. Each asks before it leaves unsaved work. */
export function useSampleShop() {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const look = useSend<void, Session>(() => ({ path: '/sample-shop' }));
  const back = useSend<string, Session>((member_id) => ({ path: '/session/switch', body: { member_id } }));
  const remove = useSend<void, ResponseOf<'/sample-shop', 'delete'>>(
    () => ({ path: '/sample-shop', method: 'DELETE' }),
    { done: 'Sample data removed' },
  );
  function show(session: Session | null) {
    giveUpUnsaved();
    navigate('/');
    if (session) showSession(queries, session);
    else queries.setQueryData(SESSION_QUERY.queryKey, null);
  }
  return {
    look: () => leaveBy(() => afterSuccess(look.mutateAsync(), show)),
    back: (memberId: string) => leaveBy(() => afterSuccess(back.mutateAsync(memberId), show)),
    remove: () => leaveBy(() => afterSuccess(remove.mutateAsync(), ({ session }) => show(session))),
    isLooking: look.isPending,
    isLeaving: back.isPending,
    isRemoving: remove.isPending,
  };
}
