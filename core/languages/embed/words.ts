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

export type EmbedTranslation = Translation<typeof en>;
export type EmbedWords = Words<typeof en>;

/** Words of the embedded dashboard of referrers by language. */
export const EMBED_MESSAGES: Record<Language, EmbedTranslation> = { en, de, fr, es, pt, it, nl, pl, ja, ar };

/** Returns the words of the embedded dashboard of referrers in a language. */
export const embedWords = (language: Language): EmbedWords =>
  createWords<typeof en>(language, EMBED_MESSAGES[language]);
