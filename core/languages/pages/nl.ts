import type { PageTranslation } from './words.ts';

export const nl: PageTranslation = {
  short_links: 'Korte links',
  short_links_text:
    'Dit adres stuurt korte links door naar hun bestemming. Hier is niets te zien: open het volledige adres van een link.',
  not_found: 'Link niet gevonden',
  not_found_text: 'Er is geen link op dit adres.',
  expired: 'Link verlopen',
  expired_text: 'Deze link is niet meer actief.',
  blocked: 'Link geblokkeerd',
  blocked_text:
    'De beheerder van deze dienst heeft deze link geblokkeerd. Mogelijk is de link als schadelijk gemeld.',
  unavailable: 'Probeer het opnieuw',
  unavailable_text: 'Deze link kan nu niet worden geopend. Probeer het zo meteen opnieuw.',
  password_required: 'Wachtwoord vereist',
  password_text: 'Deze link is beveiligd met een wachtwoord.',
  password_framed_text: 'Deze link is beveiligd met een wachtwoord. Voer het in een nieuw venster in.',
  new_window: 'Openen in een nieuw venster',
  password: 'Wachtwoord',
  continue: 'Doorgaan',
  wrong_password: 'Het wachtwoord is niet juist. Probeer het opnieuw.',
  too_many_attempts: 'Te veel pogingen',
  too_many_attempts_text: 'Te veel onjuiste wachtwoorden. Probeer het over een minuut opnieuw.',
  redirecting: 'Je wordt doorgestuurd',
  made_with: 'Gemaakt met {service}',
  email: 'E-mail',
};
