import { tell } from './attempt.ts';

/**
 * The short links' origin, the key of the request, and the query parameters that name a referrer, joined by commas.
 * Ingest writes them in when it serves the script, so they remain when an optimizer copies it into another file.
 */
const [ORIGIN, KEY, PARAMETERS] = '{{hoplog}}'.split('|');

const OURS = /\/p(ixel)?\.js([?#]|$)/;

/** The settings of a script element: its endpoints, its site's key, and its `data-` attributes. */
export type Settings = {
  key: string;
  /** Addresses of `/collect`, tried in order. */
  endpoints: string[];
  consent?: string;
  keepAddress?: string;
  /** Query parameters of pages that name a referrer. */
  parameters?: string | undefined;
};

/** A script element; `hoplog`: a run of the pixel has used it. */
export type Script = HTMLScriptElement & { hoplog?: true };

const isOurs = (element: Script | null | undefined): element is Script =>
  OURS.test(element ? element.src : '');

/**
 * Returns the key of an element that no run has used: `data-key` or `?key=`, because tag managers may drop one of them.
 */
const keyOf = (element: Script | null | undefined): string | undefined => {
  if (!element || element.hoplog) return;
  // Other tools' scripts have a `data-key` too.
  const [key] = /\b[pl]k_\w+/.exec(`${element.dataset.key} ${isOurs(element) && element.src}`) || [];
  return key;
};

/**
 * Returns the settings of the running script: of the element that loaded it. If that is unknown (a module, a bundle),
 * of the first of our elements that no other run has used.
 *
 * @param current the running element, if known
 * @returns undefined when it can't work
 */
export const readSettings = (current: Script | null): Settings | undefined => {
  const scripts: (Script | null)[] = [...document.scripts];
  const mine = [current, ...scripts.filter(isOurs), ...scripts].find(keyOf);
  const key = keyOf(mine) || KEY;
  if (mine) mine.hoplog = true;
  const source = [mine, current].find(isOurs);
  const [base] = (source ? source.src : '').split(OURS);
  // In a file that ingest did not serve, the placeholder is not an origin.
  const endpoints = [...new Set([`${base}/collect`, `${ORIGIN}/collect`])].filter(
    (one) => !one.indexOf('http'),
  );
  if (!key) tell('no key found: add ?key=pk_live_... to pixel.js');
  else if (key.indexOf('pk_')) tell('a secret key must never be in a page: use pk_live_...');
  else if (!endpoints[0]) tell('the address of the short links is unknown: load pixel.js there');
  else return { parameters: PARAMETERS, ...(mine ? mine.dataset : {}), key, endpoints };
};
