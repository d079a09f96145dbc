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

/** Who is signed in; null: signed out. */
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
  // Another window may have signed in another member, whose data the page would then read.
  refetchOnWindowFocus: 'always',
  retry: (count, error) => count < 2 && isRetryable(error),
});

/** Identifies the member and workspace: state of another owner must not be shown. */
export const ownerOf = ({ member, workspace }: Session): string => `${member.id} ${workspace.id}`;

export const SessionContext = createContext<Session | null>(null);

/** The session of a signed-in page. */
export function useSession(): Session & { can: (role: Role) => boolean } {
  const session = useContext(SessionContext);
  if (!session) throw new Error('there is no session around this component');
  return { ...session, can: (role) => RANK[session.member.role] >= RANK[role] };
}
