import { type ComponentType, lazy, useState } from 'react';

/** A lazily loaded page or component. */
export type LazyPage<Props = object> = {
  /** Fetches the code, once. @throws if the fetch fails; the next call retries */
  load(): Promise<unknown>;
  /** The component: ready if its code is loaded, otherwise suspending. */
  component(): ComponentType<Props>;
};

/**
 * A suspended component renders with a delay, so a page whose code is already loaded is not wrapped in `lazy`.
 *
 * @param read imports the page's module
 */
export function lazyPage<Props = object>(
  read: () => Promise<{ default: ComponentType<Props> }>,
): LazyPage<Props> {
  let loaded: ComponentType<Props> | null = null;
  let loading: Promise<{ default: ComponentType<Props> }> | null = null;
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
export const readyPage = (component: ComponentType): LazyPage => ({
  load: () => Promise.resolve(),
  component: () => component,
});

/** Shows a page; keeps the same component while mounted, even if its code arrives. */
export function PageOf({ page }: { page: LazyPage }) {
  const [Component] = useState(() => page.component());
  return <Component />;
}
