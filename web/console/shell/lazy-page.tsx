import type { QueryClient } from '@tanstack/react-query';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import type { Session } from '../api/session.ts';

/** The code of a page or component. */
export type PageModule<Props = object> = {
  default: ComponentType<Props>;
  /**
   * Sends the page's slowest read before the page renders.
   *
   * @param search the query of its URL
   * @returns a promise if the first render waits for the response, for a moment at most
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: a page may send its read and return nothing
  firstRead?: (queries: QueryClient, search: URLSearchParams, session: Session) => Promise<unknown> | void;
};

/** A lazily loaded page or component. */
export type LazyPage<Props = object> = {
  /** Fetches the code, once. @throws if the fetch fails; the next call retries */
  load(): Promise<PageModule<Props>>;
  /** The component: ready if its code is loaded, otherwise suspending. */
  component(): ComponentType<Props>;
};

/**
 * A suspended component renders with a delay, so a page whose code is already loaded is not wrapped in `lazy`.
 *
 * @param read imports the page's module
 */
export function lazyPage<Props = object>(read: () => Promise<PageModule<Props>>): LazyPage<Props> {
  let loaded: ComponentType<Props> | null = null;
  let loading: Promise<PageModule<Props>> | null = null;
  const load = () => {
    loading ??= read().then(
      (module) => {
        loaded = module.default;
        return module;
      },
      (error: unknown) => {
        loading = null;
        throw error;
      },
    );
    return loading;
  };
  const Later = lazy(load);
  return { load, component: () => loaded ?? Later };
}

/** A page whose code is in the first script. */
export const readyPage = (module: PageModule): LazyPage => ({
  load: () => Promise.resolve(module),
  component: () => module.default,
});

/** Shows a page; keeps the same component while mounted, even if its code arrives. */
export function PageOf({ page }: { page: LazyPage }) {
  const [Component] = useState(() => page.component());
  return <Component />;
}

/** Shows a dialog when its code is there, and nothing before. */
export function DialogOf<Props extends { close: () => void }>({
  dialog,
  props,
}: {
  dialog: LazyPage<Props>;
  props: Props;
}) {
  const [Dialog] = useState(() => dialog.component());
  return (
    <Suspense fallback={null}>
      <Dialog {...props} />
    </Suspense>
  );
}
