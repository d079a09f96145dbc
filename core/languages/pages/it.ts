import type { PageTranslation } from './words.ts';

export const it: PageTranslation = {
  short_links: 'Link brevi',
  short_links_text:
    'Questo indirizzo porta i link brevi alla loro destinazione. Qui non c’è nulla da vedere: apri l’indirizzo completo di un link.',
  not_found: 'Link non trovato',
  not_found_text: 'A questo indirizzo non c’è nessun link.',
  expired: 'Link scaduto',
  expired_text: 'Questo link non è più attivo.',
  blocked: 'Link bloccato',
  blocked_text:
    'Il gestore di questo servizio ha bloccato il link. Potrebbe essere stato segnalato come dannoso.',
  unavailable: 'Riprova',
  unavailable_text: 'Al momento non è possibile aprire questo link. Riprova tra poco.',
  password_required: 'Password richiesta',
  password_text: 'Questo link è protetto da una password.',
  password_framed_text: 'Questo link è protetto da una password. Inseriscila in una nuova finestra.',
  new_window: 'Apri in una nuova finestra',
  password: 'Password',
  continue: 'Continua',
  wrong_password: 'La password non è corretta. Riprova.',
  too_many_attempts: 'Troppi tentativi',
  too_many_attempts_text: 'Troppe password errate. Riprova tra un minuto.',
  redirecting: 'Reindirizzamento in corso',
  made_with: 'Creato con {service}',
  email: 'Email',
};
