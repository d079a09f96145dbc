import type { PageTranslation } from './words.ts';

export const ja: PageTranslation = {
  short_links: '短縮リンク',
  short_links_text:
    'このアドレスは、短縮リンクをリンク先へ転送するためのものです。このページに内容はありません。リンクの完全なアドレスを開いてください。',
  not_found: 'リンクが見つかりません',
  not_found_text: 'このアドレスにリンクはありません。',
  expired: 'リンクの有効期限が切れています',
  expired_text: 'このリンクは現在ご利用いただけません。',
  blocked: 'リンクはブロックされています',
  blocked_text:
    'このサービスの運営者がリンクをブロックしました。有害なリンクとして報告された可能性があります。',
  unavailable: 'もう一度お試しください',
  unavailable_text: '現在このリンクを開けません。しばらくしてからもう一度お試しください。',
  password_required: 'パスワードが必要です',
  password_text: 'このリンクはパスワードで保護されています。',
  password_framed_text: 'このリンクはパスワードで保護されています。新しいウィンドウで入力してください。',
  new_window: '新しいウィンドウで開く',
  password: 'パスワード',
  continue: '続ける',
  wrong_password: 'パスワードが正しくありません。もう一度お試しください。',
  too_many_attempts: '試行回数の上限に達しました',
  too_many_attempts_text: 'パスワードの誤りが続きました。1分後にもう一度お試しください。',
  redirecting: '移動しています',
  made_with: '{service}で作成',
  email: 'メール',
};
