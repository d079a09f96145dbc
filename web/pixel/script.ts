import { tell } from './attempt.ts';

/**
 * The short links' origin, the key of the request, and the query parameters that name a referrer, joined by commas: ingest
 * writes them in where it serves the script. They remain when an optimizer copies it into another file.
 */
const [ORIGIN, KEY, PARAMETERS] = '{{hoplog}}'.split('|');

const OURS = /\/p(ixel)?\.js([?#]|$)/;

/** Where a script element posts calls, for which site, and its `data-` attributes. */
export type Settings = {
  key: string;
  /** Addresses of `/collect`: the first that answers. */
  endpoints: string[];
  consent?: string;
  keepAddress?: string;
  /** Query parameters of pages that name a referrer. */
  parameters?: string | undefined;
};

/** A script element; `hoplog`: a run of the pixel has taken it. */
export type Script = HTMLScriptElement & { hoplog?: true };

const isOurs = (element: Script | null | undefined): element is Script =>
  OURS.test(element ? element.src : '');

/** Returns the key of an element that no run has taken: `data-key` or `?key=`; tag managers may drop the one. */
const keyOf = (element: Script | null | undefined): string | undefined => {
  if (!element || element.hoplog) return;
  // Other tools' scripts have a `data-key` too.
  const [key] = /\b[pl]k_\w+/.exec(`${element.dataset.key} ${isOurs(element) && element.src}`) || [];
  return key;
};

/**
 * Returns the settings of the script that runs: of the element that loaded it, or where none is known (a module, a
 * bundle) of the first of ours that no other run has taken.
 *
 * @param current the element that is known
 * @returns undefined when it can't work
 */
export const readSettings = (current: Script | null): Settings | undefined => {
  const scripts: (Script | null)[] = [...document.scripts];
  const mine = [current, ...scripts.filter(isOurs), ...scripts].find(keyOf);
  const key = keyOf(mine) || KEY;
  if (mine) mine.hoplog = true;
  const source = [mine, current].find(isOurs);
  const [base] = (source ? source.src : '').split(OURS);
  // The origin is not one in a file that ingest did not serve.
  const endpoints = [...new Set([`${base}/collect`, `${ORIGIN}/collect`])].filter(
    (one) => !one.indexOf('http'),
  );
  if (!key) tell('no key found: add ?key=pk_live_... to pixel.js');
  else if (key.indexOf('pk_')) tell('a secret key must never be in a page: use pk_live_...');
  else if (!endpoints[0]) tell('the address of the short links is unknown: load pixel.js there');
  else return { parameters: PARAMETERS, ...(mine ? mine.dataset : {}), key, endpoints };
};
