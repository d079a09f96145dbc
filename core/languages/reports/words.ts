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

export type ReportTranslation = Translation<typeof en>;
export type ReportWords = Words<typeof en>;

/** Words of reports and alerts by language. */
export const REPORT_MESSAGES: Record<Language, ReportTranslation> = {
  en,
  de,
  fr,
  es,
  pt,
  it,
  nl,
  pl,
  ja,
  ar,
};

/** Returns the words of reports and alerts in a language. */
export const reportWords = (language: Language): ReportWords =>
  createWords<typeof en>(language, REPORT_MESSAGES[language]);
