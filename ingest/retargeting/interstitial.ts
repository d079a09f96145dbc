import { createHash } from 'node:crypto';
import { byLanguage, type Language, languageAttributes } from '../../core/languages/languages.ts';
import { pageWords } from '../../core/languages/pages/words.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Retargeting } from '../../sql/links/link-settings.ts';
import { LAYOUT, languageHeaders, NOT_INDEXED, type Page, STYLE_SOURCE } from '../pages/layout.ts';
import { type Pixel, type PixelNetwork, pixelOf } from './pixels.ts';

/** Returns the page that fires a link's pixels and redirects to `url`. */
export type Interstitial = (language: Language, pixels: Retargeting, url: string) => Page;

/**
 * The page's only inline script. Its parameters are in the page, so that one hash allows it for every link. It fires
 * the pixels and redirects once their images have loaded or failed, and after 800 ms at the latest; scripts of
 * networks get the full time. Their queues are set up first, in the documented form.
 *
 * The page has no tags of the networks: without JavaScript browsers follow its refresh only once all of it has
 * loaded, and a network that hangs would hold the visitor.
 */
const SCRIPT = `(function () {
  var page = document.documentElement, gone = false, left = 0;
  function list(name) { return (page.getAttribute(name) || '').split(' ').filter(Boolean); }
  function go() { if (!gone) { gone = true; location.replace(page.getAttribute('data-to')); } }
  setTimeout(go, 800);
  var tiktok = page.getAttribute('data-tiktok'), google = page.getAttribute('data-google');
  if (tiktok) {
    window.TiktokAnalyticsObject = 'ttq';
    var ttq = window.ttq = [['page']];
    ttq._i = {}; ttq._i[tiktok] = []; ttq._i[tiktok]._u = 'https://analytics.tiktok.com/i18n/pixel/events.js';
    ttq._t = {}; ttq._t[tiktok] = +new Date(); ttq._o = {}; ttq._o[tiktok] = {};
  }
  if (google) {
    window.dataLayer = [];
    window.gtag = function () { window.dataLayer.push(arguments); };
    window.gtag('js', new Date()); window.gtag('config', google);
  }
  var scripts = list('data-scripts'), images = list('data-images');
  function one() { left -= 1; if (left === 0 && scripts.length === 0) go(); }
  scripts.forEach(function (src) {
    var script = document.createElement('script');
    script.src = src;
    document.head.appendChild(script);
  });
  left = images.length;
  images.forEach(function (src) {
    var image = new Image();
    image.onload = image.onerror = one;
    image.src = src;
  });
})();`;

const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64');

export function createInterstitial(): Interstitial {
  const words = byLanguage(pageWords);
  return (language, retargeting, url) => {
    const pixels = (Object.entries(retargeting) as [PixelNetwork, string][]).map(([network, id]) => ({
      network,
      id,
      pixel: pixelOf(network, id),
    }));
    const attributes: [name: string, value: string][] = [
      ['to', url],
      ['images', pixels.flatMap(({ pixel }) => pixel.images).join(' ')],
      ['scripts', pixels.flatMap(({ pixel }) => pixel.script ?? []).join(' ')],
      ...pixels
        .filter(({ pixel }) => pixel.script !== null)
        .map(({ network, id }): [string, string] => [network, id]),
    ];
    const data = attributes.map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`).join('');
    const to = escapeHtml(url);
    const redirecting = escapeHtml(words[language]('redirecting'));
    const onwards = escapeHtml(words[language]('continue'));
    const body =
      `<!doctype html><html${languageAttributes(language)}${data}><head><meta charset="utf-8">${LAYOUT}` +
      `<meta name="robots" content="noindex"><title>${redirecting}</title>` +
      `<noscript><meta http-equiv="refresh" content="0;url=${to}"></noscript><script>${SCRIPT}</script>` +
      `</head><body><main><h1>${redirecting}…</h1><p><a href="${to}">${onwards}</a></p></main></body></html>`;
    return {
      headers: [
        ['Content-Type', 'text/html; charset=utf-8'],
        ['Cache-Control', 'no-store'],
        ['Content-Security-Policy', policy(pixels.map(({ pixel }) => pixel))],
        ['X-Content-Type-Options', 'nosniff'],
        ...languageHeaders(language),
        NOT_INDEXED,
      ],
      body: Buffer.from(body),
    };
  };
}

/** Allows this page's own script and the hosts of these pixels. Any page may frame it, as it may a redirect. */
function policy(pixels: Pixel[]): string {
  const origins = (kind: keyof Pixel['origins']) => [
    ...new Set(pixels.flatMap((pixel) => pixel.origins[kind])),
  ];
  const directives: [string, string[]][] = [
    ['style-src', [STYLE_SOURCE]],
    ['img-src', origins('images')],
    ['script-src', [`'sha256-${SCRIPT_HASH}'`, ...origins('scripts')]],
    ['connect-src', origins('connections')],
  ];
  const named = directives
    .filter(([, sources]) => sources.length > 0)
    .map(([directive, sources]) => `${directive} ${sources.join(' ')}`);
  return ["default-src 'none'", ...named, "base-uri 'none'", "form-action 'none'"].join('; ');
}
