import { LANGUAGE_NAMES, LANGUAGES } from '../../../core/languages/languages.ts';

/** The languages of visitors' pages, for a field of choices. */
export const LANGUAGE_CHOICES = LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }));
