import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ApiFailure, isRetryable } from './api/failures.ts';
import { Console } from './shell/console.tsx';
import { listenForLeaving } from './shell/leaving.ts';
import { Notices } from './shell/notices.tsx';
import { THEME } from './shell/theme.ts';

/** The server gives each answer a nonce of its own; Mantine's style elements must carry it. */
const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';
// Where the dialogs' scroll lock (get-nonce, of react-remove-scroll) looks for it.
Object.assign(globalThis, { __webpack_nonce__: nonce });

/** A session that has ended meanwhile, or a member that was removed, is asked for anew: the sign-in follows. */
const onError = (error: unknown) => {
  if (error instanceof ApiFailure && error.status === 401) {
    void queries.invalidateQueries({ queryKey: ['/session'] });
  }
};

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: { staleTime: 5_000, retry: (count, error) => count < 2 && isRetryable(error) },
    mutations: { retry: false },
  },
});

listenForLeaving();

const root = document.getElementById('root');
if (!root) throw new Error('the page has no #root');
createRoot(root).render(
  <MantineProvider theme={THEME} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <QueryClientProvider client={queries}>
      <Router base="/console">
        <Console />
      </Router>
    </QueryClientProvider>
    <Notices />
  </MantineProvider>,
);
