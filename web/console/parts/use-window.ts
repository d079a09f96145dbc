import { useUrlParameters } from './url-parameters.ts';
import { type Window, type WindowQuery, windowOf, windowQuery } from './window.ts';

/** The time range in the page's URL, its query parameters, and a setter. */
export function useWindow(): { window: Window; query: WindowQuery; choose: (window: Window) => void } {
  const [search, change] = useUrlParameters();
  const window = windowOf(search);
  return {
    window,
    query: windowQuery(window),
    choose: (chosen) =>
      change(
        chosen.kind === 'days'
          ? { days: String(chosen.days), from: null, to: null }
          : { days: null, from: chosen.from, to: chosen.to },
      ),
  };
}
