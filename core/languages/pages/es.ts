import type { PageTranslation } from './words.ts';

export const es: PageTranslation = {
  short_links: 'Enlaces cortos',
  short_links_text:
    'Esta dirección lleva los enlaces cortos a su destino. Aquí no hay nada que ver: abre la dirección completa de un enlace.',
  not_found: 'Enlace no encontrado',
  not_found_text: 'No hay ningún enlace en esta dirección.',
  expired: 'Enlace caducado',
  expired_text: 'Este enlace ya no está activo.',
  blocked: 'Enlace bloqueado',
  blocked_text:
    'El operador de este servicio ha bloqueado este enlace. Es posible que se haya denunciado como dañino.',
  unavailable: 'Inténtalo de nuevo',
  unavailable_text: 'Este enlace no se puede abrir en este momento. Inténtalo de nuevo en unos instantes.',
  password_required: 'Se necesita una contraseña',
  password_text: 'Este enlace está protegido con una contraseña.',
  password_framed_text: 'Este enlace está protegido con una contraseña. Introdúcela en una ventana nueva.',
  new_window: 'Abrir en una ventana nueva',
  password: 'Contraseña',
  continue: 'Continuar',
  wrong_password: 'La contraseña no es correcta. Inténtalo de nuevo.',
  too_many_attempts: 'Demasiados intentos',
  too_many_attempts_text: 'Demasiadas contraseñas incorrectas. Inténtalo de nuevo en un minuto.',
  redirecting: 'Redirigiendo',
  made_with: 'Hecho con {service}',
  email: 'Correo electrónico',
};
