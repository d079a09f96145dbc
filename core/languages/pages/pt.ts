import type { PageTranslation } from './words.ts';

export const pt: PageTranslation = {
  short_links: 'Links curtos',
  short_links_text:
    'Este endereço leva links curtos ao seu destino. Não há nada para ver aqui: abra o endereço completo de um link.',
  not_found: 'Link não encontrado',
  not_found_text: 'Não existe nenhum link neste endereço.',
  expired: 'Link expirado',
  expired_text: 'Este link não está mais ativo.',
  blocked: 'Link bloqueado',
  blocked_text: 'O operador deste serviço bloqueou este link. Ele pode ter sido denunciado como prejudicial.',
  unavailable: 'Tente novamente',
  unavailable_text: 'Não é possível abrir este link agora. Tente novamente em instantes.',
  password_required: 'Senha necessária',
  password_text: 'Este link está protegido por uma senha.',
  password_framed_text: 'Este link está protegido por uma senha. Digite-a em uma nova janela.',
  new_window: 'Abrir em uma nova janela',
  password: 'Senha',
  continue: 'Continuar',
  wrong_password: 'A senha não está correta. Tente novamente.',
  too_many_attempts: 'Muitas tentativas',
  too_many_attempts_text: 'Muitas senhas incorretas. Tente novamente em um minuto.',
  redirecting: 'Redirecionando',
  made_with: 'Feito com {service}',
  email: 'E-mail',
};
