import { type Language, languageAttributes } from '../../core/languages/languages.ts';
import { type PortalWords, portalWords } from '../../core/languages/portal/words.ts';
import { moneyFormat } from '../../core/money/money-format.ts';
import { escapeHtml } from '../../core/text/html.ts';
import type { Asset } from '../assets.ts';
import type { OfPortal } from './portal-of.ts';

/** The files of every page. */
export type PortalFiles = { script: Asset; style: Asset };

/** What a page of a program is written with. */
export type PageSetting = {
  files: PortalFiles;
  language: Language;
  /** Null: no program is shown. */
  of: OfPortal | null;
  hasLogo: boolean;
};

export type Writing = {
  words: PortalWords;
  language: Language;
  money(major: number, currency: string): string;
  percent(share: number): string;
  number(value: number): string;
  /** A day, such as `Nov 29, 2026`. */
  day(iso: string): string;
};

/** Returns how words, numbers, money and dates are written in a language. */
export function writingIn(language: Language): Writing {
  const locale = language === 'en' ? 'en-US' : language;
  const format = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options);
  return {
    words: portalWords(language),
    language,
    money: (major, currency) => moneyFormat(currency, locale).format(major),
    percent: (share) => format({ style: 'percent', maximumFractionDigits: 2 }).format(share),
    number: (value) => format({ maximumFractionDigits: 2 }).format(value),
    day: (iso) =>
      new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(iso)),
  };
}

export const assetPath = ({ hash }: Asset, extension: string): string => `/p/assets/${hash}.${extension}`;

/** Text of a person, in the direction of its own script, with its line breaks. */
export const ownText = (text: string): string =>
  `<div class="own-text" dir="auto">${escapeHtml(text).replaceAll(/\r\n|\r|\n/g, '<br>')}</div>`;

/** A text of a person within a sentence, whose direction does not turn the words around it. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** The button that copies a text. */
export const copyButton = (text: string, { words }: Writing): string =>
  `<button type="button" class="plain" data-copy="${escapeHtml(text)}">${escapeHtml(words('copy'))}</button>`;

/** A text to copy. @param label for screen readers; left out: the text itself is shown as a code */
export const copyRow = (text: string, writing: Writing, label: string = text): string =>
  `<div class="copy"><input readonly dir="ltr" value="${escapeHtml(text)}" aria-label="${escapeHtml(label)}">${copyButton(text, writing)}</div>`;

/** Names with their values. Values are HTML. */
export const factList = (facts: readonly (readonly [name: string, value: string])[]): string =>
  `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${escapeHtml(name)}</dt><dd>${value}</dd></div>`).join('')}</dl>`;

export type FieldOptions = {
  label: string;
  name: string;
  type?: 'text' | 'email' | 'url';
  autocomplete?: string;
  maxLength: number;
  required: boolean;
};

/** A labeled input. */
export function inputField({
  label,
  name,
  type = 'text',
  autocomplete,
  maxLength,
  required,
}: FieldOptions): string {
  const attributes = [
    `name="${escapeHtml(name)}"`,
    `type="${type}"`,
    `maxlength="${maxLength}"`,
    ...(autocomplete === undefined ? [] : [`autocomplete="${autocomplete}"`]),
    ...(required ? ['required'] : []),
  ];
  return `<label class="field"><bdi>${escapeHtml(label)}</bdi><input ${attributes.join(' ')}></label>`;
}

/**
 * Returns a page. Its script sends the forms, whose attributes say where and what follows.
 *
 * @param title text
 * @param main HTML
 */
export function portalHtml(
  { files, language, of, hasLogo }: PageSetting,
  title: string,
  main: string,
): string {
  const words = portalWords(language);
  const { script, style } = files;
  const code = of === null ? '' : escapeHtml(of.program.code);
  const logo = hasLogo ? `<img src="/p/${code}/logo.png" alt="" class="logo">` : '';
  const head =
    of === null ? '' : `<header class="top">${logo}<bdi>${escapeHtml(of.workspace.name)}</bdi></header>`;
  const said = (['one_moment', 'failed', 'too_many', 'check_fields', 'terms_changed', 'copied'] as const)
    .map((key) => `data-${key.replace('_', '-')}="${escapeHtml(words(key))}"`)
    .join(' ');
  return `<!doctype html>
<html${languageAttributes(language)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath(style, 'css')}" integrity="sha384-${style.sha384}">
<script defer src="${assetPath(script, 'js')}" integrity="sha384-${script.sha384}"></script>
</head>
<body ${said}>
${head}
<main>
${main}
</main>
<noscript><p class="page-note">${escapeHtml(words('needs_script'))}</p></noscript>
</body>
</html>
`;
}

/** The Content-Security-Policy of every page. */
export const PORTAL_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
