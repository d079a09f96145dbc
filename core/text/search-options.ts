// Browsers run this file too.
import type { Options } from 'minisearch';

/** The fields of a result that search shows. */
export type Hit = { url: string; title: string; kind: string; place: string };

/** Returns the words of a text: whole, and the parts of names such as `external_id`, `bioPages.getStats`. */
function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== '');
    return parts.length > 1 ? [word, ...parts] : parts;
  });
}

/** Options for building and reading the index. */
export const SEARCH_OPTIONS: Options = {
  idField: 'url',
  fields: ['title', 'names', 'fields', 'place', 'text'],
  storeFields: ['url', 'title', 'kind', 'place'],
  tokenize: wordsOf,
  processTerm: (term) => term.toLowerCase(),
  searchOptions: {
    boost: { title: 4, names: 6, fields: 3, place: 2 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
  },
};
