import { languageRanges } from '../enrich/languages.ts';
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from './languages.ts';

const ANY = '*';

/**
 * Returns the language that a visitor prefers among {@link LANGUAGES}: `de` of `de-CH, en;q=0.9`. Of equal weights the
 * first counts, and `*` stands for the languages that the header does not name (RFC 9110, section 12.5.4). English when
 * the visitor accepts none of them.
 *
 * @param header the value of `Accept-Language`; empty: none
 */
export function negotiateLanguage(header: string): Language {
  if (header === '') return DEFAULT_LANGUAGE;
  const ranges = languageRanges(header);
  const weights = new Map<string, number>();
  for (const { range, weight } of ranges) {
    const [language = ''] = range.split('-', 1);
    weights.set(language, Math.max(weight, weights.get(language) ?? 0));
  }
  const rest = weights.get(ANY) ?? 0;
  const inOrder = [...new Set([...weights.keys(), ...LANGUAGES])];
  let [best, bestWeight]: [Language, number] = [DEFAULT_LANGUAGE, 0];
  for (const language of inOrder.flatMap((name) => LANGUAGES.filter((one) => one === name))) {
    const weight = weights.get(language) ?? rest;
    if (weight > bestWeight) [best, bestWeight] = [language, weight];
  }
  return best;
}
