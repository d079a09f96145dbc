import { attempt, tell } from './attempt.ts';

/**
 * The short links' origin, the key of the request, and what its workspace has set, written in by ingest where the script is served: they remain when
 * an optimizer copies the script into another file. As they are here in a file that was not served.
 */
const SERVED_BY = '{{hoplog:origin}}';
const SERVED_FOR = '{{hoplog:key}}';
/** Query parameters of pages that name a referrer, joined by commas. */
const SERVED_WITH = '{{hoplog:parameters}}';
const served = (value: string) => (value[0] === '{' ? '' : value);

const OURS = /\/(pixel|p)\.js([?#]|$)/;
const KEY = /[?&]key=([^&#]*)/;

/** Where a script element posts calls, and for which site. */
export type Settings = {
  key: string;
  /** Addresses of `/collect`: the first that answers. */
  endpoints: string[];
  waitsForConsent: boolean;
  keepsAddress: boolean;
  /** Query parameters of pages that name a referrer. */
  parameters: string[];
};

/**
 * Returns the settings of the script that runs: of the element that loaded it, or where none is known (a module, a
 * bundle) of the first of ours that no other run has taken.
 *
 * @returns null when there is no key
 */
export function readSettings(): Settings | null {
  const elements: (HTMLScriptElement | null)[] = [].slice.call(
    attempt(() => document.querySelectorAll('script')) || [],
  );
  const current = document.currentScript as HTMLScriptElement | null;
  const mine = [current]
    .concat(
      elements.filter((element) => element && OURS.test(srcOf(element))),
      elements,
    )
    .filter((element) => element && keyOf(element) && !isTaken(element))[0];
  const key = mine ? keyOf(mine) : served(SERVED_FOR);
  if (mine) mine.setAttribute('data-hoplog', '');
  if (!key) {
    tell('no key found: add ?key=pk_live_... to the address of pixel.js');
    return null;
  }
  if (key.indexOf('pk_') !== 0) {
    tell('the key must be a publishable one (pk_live_...); a secret key must never be in a page');
    return null;
  }
  const source = [mine, current].filter((element) => element && OURS.test(srcOf(element)))[0];
  const bases = [
    source
      ? srcOf(source)
          .replace(/[?#].*/, '')
          .replace(/[^/]*$/, '')
      : '',
    served(SERVED_BY),
  ];
  const endpoints = bases.filter((base) => base).map((base) => `${base.replace(/\/$/, '')}/collect`);
  if (endpoints.length === 0) {
    tell('the address of the short links is unknown: load pixel.js from them');
    return null;
  }
  return {
    key,
    endpoints: endpoints.filter((endpoint, index) => endpoints.indexOf(endpoint) === index),
    waitsForConsent: optionOf(mine, 'data-consent') === 'wait',
    keepsAddress: optionOf(mine, 'data-keep-address') !== null,
    parameters: (optionOf(mine, 'data-parameters') || served(SERVED_WITH) || 'ref,via').split(/[ ,]+/),
  };
}

const srcOf = (element: HTMLScriptElement) => element.src || '';
const isTaken = (element: HTMLScriptElement) => element.hasAttribute('data-hoplog');
const optionOf = (element: HTMLScriptElement | null | undefined, name: string) =>
  element ? element.getAttribute(name) : null;

/** Returns the key of an element, which has `data-key` or `?key=`; tag managers may drop the one. */
function keyOf(element: HTMLScriptElement): string {
  const isOurs = OURS.test(srcOf(element));
  const attribute = (element.getAttribute('data-key') || '').trim();
  const [, parameter = ''] = (isOurs && KEY.exec(srcOf(element))) || [];
  const text = attribute || (attempt(() => decodeURIComponent(parameter)) || '').trim();
  // Other tools' scripts have a `data-key` too.
  return isOurs || /^[pl]k_/.test(text) ? text : '';
}
