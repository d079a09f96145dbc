import { notifications } from '@mantine/notifications';
import type { QueryClient, QueryKey } from '@tanstack/react-query';
import { keepCaller, onSessionInDoubt } from './call.ts';
import { ownerOf, SESSION_QUERY, type Session } from './session.ts';

/** The owner that this page itself switched to, which needs no notice. */
let expectedOwner: string | null = null;

/** Shows the session that this page switched to. */
export function showSession(queries: QueryClient, session: Session): void {
  expectedOwner = ownerOf(session);
  queries.setQueryData(SESSION_QUERY.queryKey, session);
}

/**
 * Keeps the page in sync with the browser's session: requests are made for its member, and data of another member or
 * workspace is dropped.
 *
 * @param isUnsaved whether the page has unsaved changes
 */
export function keepToSession(queries: QueryClient, isUnsaved: () => boolean): void {
  let owner: string | null = null;
  let isEnded = false;
  queries.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryKey[0] !== '/session') return;
    const session: Session | null = query.state.data ?? null;
    keepCaller(session && { owner: ownerOf(session), csrfToken: session.csrf_token });
    const wasEnded = isEnded;
    // With unsaved changes the page and its data stay: the member may sign in again.
    isEnded = session === null && owner !== null && isUnsaved();
    if (isEnded) return;
    const before = owner;
    owner = session && ownerOf(session);
    if (owner !== before) queries.removeQueries(ofPages);
    // Requests in the meantime were refused.
    else if (wasEnded) void queries.invalidateQueries(ofPages);
    const isExpected = owner === expectedOwner;
    expectedOwner = null;
    if (session && before !== null && owner !== before && !wasEnded && !isExpected) tellOfChange(session);
  });

  let asking: Promise<void> | null = null;
  onSessionInDoubt(() => {
    // Even if a request is running: its response may predate the change of session.
    asking ??= queries.refetchQueries({ queryKey: SESSION_QUERY.queryKey }).finally(() => {
      asking = null;
    });
    return asking;
  });
}

/** Data of pages, in contrast to the session. */
const ofPages = { predicate: ({ queryKey: [path] }: { queryKey: QueryKey }) => !isOfSignIn(path) };

/** The session and the invitation being accepted. */
const isOfSignIn = (path: unknown) =>
  path === '/session' || (typeof path === 'string' && path.startsWith('/session/'));

/** Tells the person that the page was reset to another session. */
function tellOfChange({ member, workspace }: Session): void {
  notifications.show({
    message: `You signed in to ${workspace.name} as ${member.email ?? 'another member'} in another window. Unsaved changes on this page are lost.`,
    color: 'orange',
    autoClose: false,
  });
}
