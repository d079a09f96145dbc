import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { isRetryable } from './api/failures.ts';
import { keepToSession } from './api/keep-to-session.ts';
import { SESSION_QUERY } from './api/session.ts';
import { askedLook } from './pages/shared/frame-look.ts';
import { pageAt, SHARED_PAGE, SIGN_IN_PAGE } from './pages.tsx';
import { Console } from './shell/console.tsx';
import { PageOf } from './shell/lazy-page.tsx';
import { isUnsaved, listenForLeaving } from './shell/leaving.ts';
import { Notices } from './shell/notices.tsx';
import { THEME } from './shell/theme.ts';
import './styles.css';

/** The server sets a nonce per response; Mantine's style elements must carry it. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
// Read by the dialogs' scroll lock (get-nonce, of react-remove-scroll).
Object.assign(globalThis, { __webpack_nonce__: nonce });

const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, retry: (count, error) => count < 2 && isRetryable(error) },
    mutations: { retry: false },
  },
});

keepToSession(queries, isUnsaved);
listenForLeaving();

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');

/** Maximum time with an empty page before the loading state shows. Milliseconds. */
const HEAD_START_MS = 500;

/** Whether this is the page of a shared dashboard, which has no session. */
const isShared = location.pathname.startsWith('/shared/');
/** The theme that the embedding page requests. */
const theme = isShared ? askedLook(location.search).theme : null;

/** Fetches the session and the page's code in parallel, then sends its first read. Failures show with the page. */
async function fetchFirst(): Promise<void> {
  if (isShared) {
    await SHARED_PAGE.load().catch(() => undefined);
    return;
  }
  const page = pageAt(location.pathname.replace('/console', ''));
  const session = queries.fetchQuery(SESSION_QUERY);
  await Promise.allSettled([
    Promise.all([session, page?.load()]).then(
      ([found, module]) => found && module?.firstRead?.(queries, new URLSearchParams(location.search), found),
    ),
    session.then<unknown>((found) => found ?? SIGN_IN_PAGE.load()),
  ]);
}

// Not awaited: later modules import this one, and would wait for it.
void Promise.race([fetchFirst(), new Promise((resolve) => setTimeout(resolve, HEAD_START_MS))]).finally(() =>
  createRoot(root).render(
    <MantineProvider
      theme={THEME}
      defaultColorScheme="auto"
      {...(theme && { forceColorScheme: theme })}
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        {isShared ? (
          <Suspense fallback={null}>
            <PageOf page={SHARED_PAGE} />
          </Suspense>
        ) : (
          <Router base="/console">
            <Console />
          </Router>
        )}
      </QueryClientProvider>
      <Notices />
    </MantineProvider>,
  ),
);
