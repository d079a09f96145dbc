// Browsers run this file too.
/** Languages of visitors' pages, the embedded dashboard, and mails: ISO 639-1. The console is English. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language of people whose own is not among {@link LANGUAGES}. */
export const DEFAULT_LANGUAGE: Language = 'en';

/** Names of the languages in English, for the console. */
export const LANGUAGE_NAMES: Record<Language, string> = {
  en: 'English',
  de: 'German',
  fr: 'French',
  es: 'Spanish',
  pt: 'Portuguese',
  it: 'Italian',
  nl: 'Dutch',
  pl: 'Polish',
  ja: 'Japanese',
  ar: 'Arabic',
};

/** Returns the locale by which numbers, money, and dates are written. */
export const localeOf = (language: Language): string => (language === 'en' ? 'en-US' : language);

/** Returns whether a text is the code of one of {@link LANGUAGES}. */
export function isLanguage(text: string): text is Language {
  return (LANGUAGES as readonly string[]).includes(text);
}

/** Returns a value for each language. */
export function byLanguage<T>(make: (language: Language) => T): Record<Language, T> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, make(language)])) as Record<Language, T>;
}

/** Returns the direction of a language's script, as the attribute `dir` names it. */
export function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}

/** Returns the attributes of an `html` element in this language, with a leading space. */
export function languageAttributes(language: Language): string {
  return ` lang="${language}" dir="${directionOf(language)}"`;
}
