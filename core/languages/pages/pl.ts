import type { PageTranslation } from './words.ts';

export const pl: PageTranslation = {
  short_links: 'Krótkie linki',
  short_links_text:
    'Ten adres przekierowuje krótkie linki do celu. Nie ma tu nic do zobaczenia: otwórz pełny adres linku.',
  not_found: 'Nie znaleziono linku',
  not_found_text: 'Pod tym adresem nie ma żadnego linku.',
  expired: 'Link wygasł',
  expired_text: 'Ten link nie jest już aktywny.',
  blocked: 'Link zablokowany',
  blocked_text: 'Operator tej usługi zablokował ten link. Mógł zostać zgłoszony jako szkodliwy.',
  unavailable: 'Spróbuj ponownie',
  unavailable_text: 'Nie można teraz otworzyć tego linku. Spróbuj ponownie za chwilę.',
  password_required: 'Wymagane hasło',
  password_text: 'Ten link jest chroniony hasłem.',
  password_framed_text: 'Ten link jest chroniony hasłem. Wpisz je w nowym oknie.',
  new_window: 'Otwórz w nowym oknie',
  password: 'Hasło',
  continue: 'Dalej',
  wrong_password: 'Hasło jest nieprawidłowe. Spróbuj ponownie.',
  too_many_attempts: 'Zbyt wiele prób',
  too_many_attempts_text: 'Zbyt wiele błędnych haseł. Spróbuj ponownie za minutę.',
  redirecting: 'Przekierowywanie',
  made_with: 'Utworzono w {service}',
  email: 'E-mail',
};
