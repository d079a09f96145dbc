import { useQueryClient } from '@tanstack/react-query';
import { useSend } from '../api/queries.ts';
import { SESSION_QUERY } from '../api/session.ts';
import { giveUpUnsaved, leaveBy } from './leaving.ts';

/** Returns what ends the session. It asks first where a page has unsaved changes. */
export function useSignOut(): { isPending: boolean; signOut: () => void } {
  const queries = useQueryClient();
  const { isPending, mutate } = useSend<void>(() => ({ path: '/session', method: 'DELETE' }));
  const signOut = () =>
    leaveBy(() =>
      mutate(undefined, {
        onSuccess: () => {
          giveUpUnsaved();
          queries.setQueryData(SESSION_QUERY.queryKey, null);
        },
      }),
    );
  return { isPending, signOut };
}
