// Browsers run this file too.
/** Primary subtags of BCP 47 that are in use: ISO 639-1, -2 and -3. */
const PRIMARY = /^[a-z]{2,3}$/;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
/** A longer header is not a browser's. */
const HEADER_LIMIT = 512;

/** Language, script, and region of a BCP 47 tag in lower case; further subtags are ignored. */
const PARTS = /^([a-z]{2,3})(?:-[a-z]{3})?(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?(?:-|$)/;

/**
 * Returns the primary subtag of the language that a visitor prefers most, in lower case: `de` of
 * `en;q=0.8, de-AT`. Of equal weights the first counts (RFC 9110, section 12.5.4). Empty when there is none.
 *
 * @param header the value of `Accept-Language`
 */
export function preferredLanguage(header: string): string {
  if (header === '' || header.length > HEADER_LIMIT) return '';
  if (beginsWithTwoLetters(header)) return header.slice(0, 2);
  const [language = ''] = mostPreferred(header.toLowerCase()).split('-', 1);
  return language;
}

/**
 * Returns whether the first language has two small letters and no weight, as in nearly all headers: none is preferred
 * to it. Every redirect calls this: a cache of headers takes twice the time.
 */
function beginsWithTwoLetters(header: string): boolean {
  if (!isLetter(header.charCodeAt(0)) || !isLetter(header.charCodeAt(1))) return false;
  for (let at = 2; at < header.length; at++) {
    const code = header.charCodeAt(at);
    if (code === COMMA) return true;
    if (code === SEMICOLON || (at === 2 && code !== HYPHEN)) return false;
  }
  return true;
}

const COMMA = 0x2c;
const HYPHEN = 0x2d;
const SEMICOLON = 0x3b;

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

/**
 * Returns the language that a visitor prefers most with its script and region, if it has them: `de-AT` of
 * `de-AT, de;q=0.8`. Empty when there is none.
 *
 * @param header the value of `Accept-Language`
 */
export function preferredLanguageTag(header: string): string {
  if (header === '' || header.length > HEADER_LIMIT) return '';
  return languageTag(mostPreferred(header.toLowerCase()));
}

/**
 * Returns a tag's language, script, and region: `de`, `de-AT`, `zh-Hant-TW`. Old codes and codes of one language in a
 * macrolanguage become the code in use: `he` of `iw`, `zh` of `cmn`. Variants are left out.
 */
export function languageTag(tag: string): string {
  const [, language = '', script, region] = PARTS.exec(tag.toLowerCase()) ?? [];
  if (language === '') return '';
  const parts = [language, script, region].filter((part) => part !== undefined);
  return Intl.getCanonicalLocales(parts.join('-'))[0] ?? '';
}

/**
 * Returns the test whether a tag is one of some languages. A language without script or region is in any; a visitor's
 * script is the likely one where the tag has none: `zh-Hant` is also `zh-TW`. `no` is also `nb` and `nn`.
 *
 * @param wanted as {@link languageTag} returns them
 */
export function languageTest(wanted: readonly string[]): (tag: string) => boolean {
  const all = wanted.map((tag) => new Intl.Locale(tag));
  return (tag) => {
    if (tag === '') return false;
    const own = new Intl.Locale(tag).maximize();
    const { region } = new Intl.Locale(tag);
    return all.some(
      (one) =>
        isSameLanguage(one.language, own.language) &&
        (one.script === undefined || one.script === own.script) &&
        (one.region === undefined || one.region === region),
    );
  };
}

/** Bokmål and Nynorsk are Norwegian; a browser that says Norwegian means Bokmål (CLDR). */
const isSameLanguage = (wanted: string, own: string): boolean =>
  wanted === own || (wanted === 'no' && (own === 'nb' || own === 'nn')) || (wanted === 'nb' && own === 'no');

/**
 * Returns the codes that clicks of a language may have, so that a filter finds all of them: `he` and `iw`, or `no`,
 * `nb`, and `nn` of `no`, as {@link languageTest} compares them.
 *
 * @param language two or three letters
 */
export function codesOfLanguage(language: string): string[] {
  const own = language.toLowerCase();
  const wanted = languageTag(own).split('-', 1)[0] ?? own;
  const codes = [...twoLetterCodes()].filter(([, current]) => isSameLanguage(wanted, current));
  return [...new Set([own, wanted, ...codes.map(([code]) => code)])];
}

let codes: Map<string, string> | null = null;

/** Each code of two letters with the code that is in use for its language. */
function twoLetterCodes(): Map<string, string> {
  if (codes !== null) return codes;
  const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode(FIRST_LETTER + n));
  const all = letters.flatMap((first) => letters.map((second) => first + second));
  codes = new Map(all.map((code) => [code, languageTag(code).split('-', 1)[0] ?? code]));
  return codes;
}

const FIRST_LETTER = 0x61;

/** Returns the whole tag, in lower case; empty when there is none. */
function mostPreferred(header: string): string {
  let [best, bestWeight] = ['', 0];
  for (const { range, weight } of rangesOf(header)) {
    const [primary = ''] = range.split('-', 1);
    if (weight > bestWeight && PRIMARY.test(primary)) [best, bestWeight] = [range, weight];
  }
  return best;
}

/** A language range of `Accept-Language`, such as `de-ch` or `*`, with its weight: 0 means unacceptable. */
export type LanguageRange = { range: string; weight: number };

/** Returns the language ranges of a header in its order, in lower case. A longer header is not a browser's: none. */
export function languageRanges(header: string): LanguageRange[] {
  return header.length > HEADER_LIMIT ? [] : rangesOf(header.toLowerCase());
}

const rangesOf = (header: string): LanguageRange[] =>
  header.split(',').map((item) => {
    const [range = '', ...parameters] = item.split(';').map((part) => part.trim());
    return { range, weight: weightOf(parameters) };
  });

/** A malformed weight counts as a missing one: 1. */
function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const value = WEIGHT.exec(parameter)?.[1];
    if (value !== undefined) return Number(value);
  }
  return 1;
}
