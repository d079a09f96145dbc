import type { Language } from '../languages.ts';
import { createWords, type Translation, type Words } from '../messages.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { ja } from './ja.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { pt } from './pt.ts';

export type PageTranslation = Translation<typeof en>;
export type PageWords = Words<typeof en>;

/** Words of visitors' pages by language. */
export const PAGE_MESSAGES: Record<Language, PageTranslation> = { en, de, fr, es, pt, it, nl, pl, ja, ar };

/** Returns the words of visitors' pages in a language. */
export const pageWords = (language: Language): PageWords =>
  createWords<typeof en>(language, PAGE_MESSAGES[language]);
