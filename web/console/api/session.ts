import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { callApi } from './call.ts';
import { ApiFailure, isRetryable } from './failures.ts';
import type { ResponseOf } from './responses.ts';

/** The signed-in member, the workspace and its URLs. */
export type Session = ResponseOf<'/session'>;

/** What a member may do: `analyst` reads, `operator` also changes, `owner` also has keys and members. */
export type Role = Session['member']['role'];

const RANK: Record<Role, number> = { analyst: 0, operator: 1, owner: 2 };

/** Asks who is signed in; null: nobody. */
export const SESSION_QUERY = queryOptions<Session | null>({
  queryKey: ['/session'],
  queryFn: async () => {
    try {
      return await callApi<Session>('/session');
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  // Another window may have signed somebody else in; what the page reads then is that one's.
  refetchOnWindowFocus: 'always',
  retry: (count, error) => count < 2 && isRetryable(error),
});

/** Whose console it is: what another one has seen, typed or begun is not for them. */
export const ownerOf = ({ member, workspace }: Session): string => `${member.id} ${workspace.id}`;

export const SessionContext = createContext<Session | null>(null);

/** The session, in every page behind the sign-in. */
export function useSession(): Session & { can: (role: Role) => boolean } {
  const session = useContext(SessionContext);
  if (!session) throw new Error('there is no session around this component');
  return { ...session, can: (role) => RANK[session.member.role] >= RANK[role] };
}
