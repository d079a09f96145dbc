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

export type PortalTranslation = Translation<typeof en>;
export type PortalWords = Words<typeof en>;

/** Words of the affiliates' portal by language. */
export const PORTAL_MESSAGES: Record<Language, PortalTranslation> = {
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

/** Returns the words of the portal in a language. */
export const portalWords = (language: Language): PortalWords =>
  createWords<typeof en>(language, PORTAL_MESSAGES[language]);
