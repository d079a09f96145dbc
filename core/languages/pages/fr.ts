import type { PageTranslation } from './words.ts';

export const fr: PageTranslation = {
  short_links: 'Liens courts',
  short_links_text:
    'Cette adresse redirige les liens courts vers leur destination. Il n’y a rien à voir ici : ouvrez l’adresse complète d’un lien.',
  not_found: 'Lien introuvable',
  not_found_text: 'Aucun lien n’existe à cette adresse.',
  expired: 'Lien expiré',
  expired_text: 'Ce lien n’est plus actif.',
  blocked: 'Lien bloqué',
  blocked_text: 'L’exploitant de ce service a bloqué ce lien. Il a peut-être été signalé comme dangereux.',
  unavailable: 'Veuillez réessayer',
  unavailable_text: 'Ce lien ne peut pas être ouvert pour le moment. Réessayez dans un instant.',
  password_required: 'Mot de passe requis',
  password_text: 'Ce lien est protégé par un mot de passe.',
  password_framed_text: 'Ce lien est protégé par un mot de passe. Saisissez-le dans une nouvelle fenêtre.',
  new_window: 'Ouvrir dans une nouvelle fenêtre',
  password: 'Mot de passe',
  continue: 'Continuer',
  wrong_password: 'Mot de passe incorrect. Réessayez.',
  too_many_attempts: 'Trop de tentatives',
  too_many_attempts_text: 'Trop de mots de passe incorrects. Réessayez dans une minute.',
  redirecting: 'Redirection en cours',
  made_with: 'Créé avec {service}',
  email: 'E-mail',
};
