import { plainText } from './plain-text.ts';

/** What a status of another service says of its link. */
export type StatusMeaning = 'live' | 'off' | 'expired' | 'used up' | 'archived' | 'scheduled' | 'unknown';

const OFF_WORDS = `
  disabled inactive deleted banned blocked suspended paused deactivated draft removed trashed trash frozen unpublished
  stopped halted closed spam phishing malware malicious blacklisted blocklisted flagged rejected revoked cancelled canceled
  quarantined terminated withdrawn retired deaktiviert gesperrt geloscht inaktiv pausiert entwurf blockiert geschlossen
  desactive inactif supprime bloque suspendu brouillon desactivado inactivo inactiva eliminado eliminada bloqueado borrado
  borrador suspendido pausado desativado inativo excluido apagado disattivato inattivo eliminato bloccato sospeso inactief
  verwijderd geblokkeerd uitgeschakeld usuniety zablokowany nieaktywny wylaczony smazano zablokovano silindi engellendi
  inaktiverad raderad slettet deaktiveret удален удалено удалена отключен отключено заблокирован неактивен 已删除 已禁用
  禁用 停用 删除 削除 無効 삭제 비활성
`;
const ON_WORDS = `
  active live enabled enable online valid activated published aktiv aktiviert aktif activo activa actif ativo ativa attivo
  attiva actief aktywny aktivni habilitado abilitato ingeschakeld veroffentlicht publicado publie включен активен активна
  активно 有効 启用 활성
`;
/** Words that mean off, whatever else the text says. */
const OFF = wordsIn(`${OFF_WORDS}
  disable delete ban block suspend pause off false no not n f abuse denied broken dead down offline error failed invalid
  unavailable hidden private pending review moderation unsafe dormant forbidden unapproved unverified 0 403 404 410 451
`);
const EXPIRED = wordsIn('expired expire ended over abgelaufen expirado caducado scaduto verlopen');
const USED_UP = wordsIn('exhausted depleted reached exceeded maxed used');
const ARCHIVED = wordsIn('archived archive archiviert archivado archivato archivee');
const SCHEDULED = wordsIn('scheduled upcoming future geplant planifie programado');
/** Words of which a text that means live may have any. */
const LIVE = wordsIn(`${ON_WORDS}
  on ok okay publish open opened public working running healthy safe verified approved ready success successful normal up
  created clean available unlisted allowed accessible good reachable redirecting true yes t y 正常 活跃 1 200 301 302 303
  307 308
`);
/** Words that say nothing. */
const FILLERS = wordsIn('is link url short the now status http moved found permanently temporary redirect');

/** The words that mean off, or on, also as the name of a column with a yes or no: alternatives of a pattern. */
export const OFF_FLAGS = flags(OFF_WORDS);
export const ON_FLAGS = flags(ON_WORDS);

function flags(words: string): string {
  return words.trim().split(/\s+/).map(plainText).join('|');
}

/** Returns what the text of a status means. Only a text of known words alone means live. */
export function statusMeaning(text: string): StatusMeaning {
  const words = [...wordsIn(text.replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 '))];
  const has = (known: ReadonlySet<string>) => words.some((word) => known.has(word));
  if (has(OFF)) return 'off';
  if (has(EXPIRED)) return 'expired';
  if (has(USED_UP) || words.join('') === 'usedup') return 'used up';
  if (has(ARCHIVED)) return 'archived';
  if (has(SCHEDULED)) return 'scheduled';
  return has(LIVE) && words.every((word) => LIVE.has(word) || FILLERS.has(word)) ? 'live' : 'unknown';
}

/** Returns the words of a text, in lower case and without accents. */
function wordsIn(text: string): Set<string> {
  const words = text.normalize('NFC').split(/[^\p{L}\p{N}\p{M}]+/u);
  return new Set(words.map(plainText).filter((word) => word !== ''));
}
