import type { en } from '../../core/languages/embed/en.ts';
import { createWords, type Translation, type Words } from '../../core/languages/messages.ts';

/** The language of the page, and its locale: with the region of the reader where it is known, such as `de-CH`. */
export type PageLanguage = { language: string; messages: Translation<typeof en>; locale?: string };

let current: { locale: string; words: Words<typeof en> } | null = null;

/** Sets the words of the page. The API puts those of one language into it. */
export function speak({ language, messages, locale = language }: PageLanguage): void {
  current = { locale, words: createWords<typeof en>(locale, messages) };
}

const spoken = () => {
  if (current === null) throw new Error('the page has no language yet');
  return current;
};

/** Returns a message in the page's language. */
export const words: Words<typeof en> = (key, ...values) => spoken().words(key, ...values);

/** The locale of numbers, money, and dates. */
export const locale = (): string => spoken().locale;

/** Returns the reader's own locale of a language, or the language. @param preferred the browser's, the first one best */
export function localeOf(language: string, preferred: readonly string[]): string {
  return preferred.find((one) => one.toLowerCase().split('-', 1)[0] === language) ?? language;
}
