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

export type MailTranslation = Translation<typeof en>;
export type MailWords = Words<typeof en>;

/** Words of mails by language. */
export const MAIL_MESSAGES: Record<Language, MailTranslation> = { en, de, fr, es, pt, it, nl, pl, ja, ar };

/** Returns the words of mails in a language. */
export const mailWords = (language: Language): MailWords =>
  createWords<typeof en>(language, MAIL_MESSAGES[language]);
