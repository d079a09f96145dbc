import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { isRetryable } from './api/failures.ts';
import { keepToSession } from './api/keep-to-session.ts';
import { questionOptions } from './api/queries.ts';
import { SESSION_QUERY } from './api/session.ts';
import { pageAt, SIGN_IN_PAGE } from './pages.tsx';
import { Console } from './shell/console.tsx';
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

/** Fetches the session and the page's code in parallel. Failures show with the page. */
async function fetchFirst(): Promise<void> {
  const page = pageAt(location.pathname.replace('/console', ''));
  const question = page?.asks?.(new URLSearchParams(location.search));
  const session = queries.fetchQuery(SESSION_QUERY);
  await Promise.allSettled([
    page?.load(),
    session.then((found) => {
      if (found && question) void queries.prefetchQuery(questionOptions(question));
      return found ?? SIGN_IN_PAGE.load();
    }),
  ]);
}

// Not awaited: later modules import this one, and would wait for it.
void Promise.race([fetchFirst(), new Promise((resolve) => setTimeout(resolve, HEAD_START_MS))]).finally(() =>
  createRoot(root).render(
    <MantineProvider theme={THEME} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <Console />
        </Router>
      </QueryClientProvider>
      <Notices />
    </MantineProvider>,
  ),
);
