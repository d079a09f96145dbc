import { type ComponentType, lazy, useState } from 'react';

/** A page, or another part that takes `Props`, whose code is fetched when it is first wanted. */
export type LazyPage<Props = object> = {
  /** Fetches the code; once, however often it is called. @throws when it can't be fetched */
  load(): Promise<unknown>;
  /** What shows the page: without a wait where its code is there, else what suspends until it is. */
  component(): ComponentType<Props>;
};

/**
 * React holds back what was suspended, however short that was. A page whose code came before it was shown is therefore
 * no lazy component.
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

/** A page whose code is there already. */
export const readyPage = (component: ComponentType): LazyPage => ({
  load: () => Promise.resolve(),
  component: () => component,
});

/** Shows a page; the same component for as long as it is shown, also when its code comes meanwhile. */
export function PageOf({ page }: { page: LazyPage }) {
  const [Component] = useState(() => page.component());
  return <Component />;
}
