/** What a status of another service says of its link. */
export type StatusMeaning = 'live' | 'off' | 'expired' | 'used up' | 'archived' | 'scheduled' | 'unknown';

/** Words that mean off, whatever else the text says. */
const OFF = wordsIn(`
  disabled disable inactive deleted delete banned ban blocked block suspended suspend paused pause deactivated off draft
  removed trashed trash frozen unpublished false no not n f stopped halted closed locked spam abuse phishing malware flagged
  rejected denied revoked cancelled canceled broken dead down offline error failed invalid unavailable hidden private
  pending review moderation quarantined unsafe dormant terminated withdrawn retired forbidden unapproved unverified
  deaktiviert gesperrt geloscht inaktiv pausiert entwurf desactive inactif supprime bloque suspendu brouillon desactivado
  inactivo eliminado bloqueado borrador desativado inativo excluido disattivato inattivo eliminato bloccato inactief
  0 403 404 410 451
`);
const EXPIRED = wordsIn('expired expire ended over abgelaufen expirado caducado scaduto verlopen');
const USED_UP = wordsIn('exhausted depleted reached exceeded maxed used');
const ARCHIVED = wordsIn('archived archive archiviert archivado archivato archivee');
const SCHEDULED = wordsIn('scheduled upcoming geplant planifie programado');
/** Words of which a text that means live may have any. */
const LIVE = wordsIn(`
  active live enabled enable on ok okay published publish open opened valid public online working running healthy safe
  verified approved ready success successful normal up created clean available unlisted allowed accessible good reachable
  redirecting activated true yes t y aktiv aktiviert aktif activo activa actif ativo ativa attivo attiva actief aktywny
  aktivni включено активен активна активно 有効 启用 正常 活跃 활성 1 200 301 302 303 307 308
`);
/** Words that say nothing. */
const FILLERS = wordsIn('is link url short the now status http moved found permanently temporary redirect');

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
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').normalize('NFKC').toLowerCase();
  return new Set(plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''));
}
