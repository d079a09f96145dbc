import { notifications } from '@mantine/notifications';
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { keepCaller, onSessionInDoubt } from './call.ts';
import { ownerOf, SESSION_QUERY, type Session } from './session.ts';

/**
 * Keeps the page with the browser's session, however that is learnt: calls are made for its member, and the answers that
 * another member or workspace was given are forgotten.
 *
 * @param isUnsaved whether the page holds something that its member would lose with it
 */
export function keepToSession(queries: QueryClient, isUnsaved: () => boolean): void {
  let owner: string | null = null;
  let isEnded = false;
  queries.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== '/session') return;
    const session: Session | null = query.state.data ?? null;
    keepCaller(session && { owner: ownerOf(session), csrfToken: session.csrf_token });
    const wasEnded = isEnded;
    // Over something unsaved the page stays, and with it what it was given: its member may sign in again.
    isEnded = session === null && owner !== null && isUnsaved();
    if (isEnded) return;
    const before = owner;
    owner = session && ownerOf(session);
    if (owner !== before) queries.removeQueries(ofPages);
    // What was asked meanwhile was refused.
    else if (wasEnded) void queries.invalidateQueries(ofPages);
    if (session && before !== null && owner !== before && !wasEnded) tellOfChange(session);
  });

  let asking: Promise<void> | null = null;
  onSessionInDoubt(() => {
    // Anew, also where it is being asked: that answer may be from before the session changed.
    asking ??= queries.refetchQueries({ queryKey: SESSION_QUERY.queryKey }).finally(() => {
      asking = null;
    });
    return asking;
  });
}

/** What pages were answered, in contrast to the session. */
const ofPages = { predicate: ({ queryKey: [path] }: { queryKey: QueryKey }) => !isOfSignIn(path) };

/** The session itself, and the invitation that is being accepted. */
const isOfSignIn = (path: unknown) =>
  path === '/session' || (typeof path === 'string' && path.startsWith('/session/'));

/** The page begins anew under the person's hands, with whatever was being typed. */
function tellOfChange({ member, workspace }: Session): void {
  notifications.show({
    message: `You signed in to ${workspace.name} as ${member.email ?? 'another member'}. Unsaved changes on this page are lost.`,
    color: 'orange',
    autoClose: false,
  });
}
