import type { PageTranslation } from './words.ts';

export const de: PageTranslation = {
  short_links: 'Kurzlinks',
  short_links_text:
    'Diese Adresse leitet Kurzlinks an ihr Ziel weiter. Hier selbst gibt es nichts zu sehen: Rufen Sie die vollständige Adresse eines Links auf.',
  not_found: 'Link nicht gefunden',
  not_found_text: 'Unter dieser Adresse gibt es keinen Link.',
  expired: 'Link abgelaufen',
  expired_text: 'Dieser Link ist nicht mehr aktiv.',
  blocked: 'Link gesperrt',
  blocked_text:
    'Der Betreiber dieses Dienstes hat diesen Link gesperrt. Möglicherweise wurde er als schädlich gemeldet.',
  unavailable: 'Bitte versuchen Sie es erneut',
  unavailable_text: 'Dieser Link lässt sich gerade nicht öffnen. Versuchen Sie es gleich noch einmal.',
  password_required: 'Passwort erforderlich',
  password_text: 'Dieser Link ist mit einem Passwort geschützt.',
  password_framed_text:
    'Dieser Link ist mit einem Passwort geschützt. Geben Sie es in einem neuen Fenster ein.',
  new_window: 'In neuem Fenster öffnen',
  password: 'Passwort',
  continue: 'Weiter',
  wrong_password: 'Das Passwort ist falsch. Versuchen Sie es noch einmal.',
  too_many_attempts: 'Zu viele Versuche',
  too_many_attempts_text: 'Das Passwort war zu oft falsch. Versuchen Sie es in einer Minute noch einmal.',
  redirecting: 'Sie werden weitergeleitet',
  made_with: 'Erstellt mit {service}',
  email: 'E-Mail',
};
