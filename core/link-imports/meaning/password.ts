import { hashUseOf } from '../../access/foreign-hashes.ts';
import { nestedValues, objectIn } from '../nested-values.ts';
import { columnKey, RowProblem, type SourceRow } from '../source-row.ts';
import { AMONG, CODES, SHORT_WORDS, WHOLE, WHOLE_MENTIONS, WORDS } from './password-words.ts';
import { plainText } from './plain-text.ts';

/** The password of a row's link: its clear text, or its hash in another service. */
export type RowPassword = { column: string; clear: string } | { column: string; hash: string };

/** Names whose value may say that the link has a password: `security: password`. */
const SAYS_HOW =
  /^(?:(?:security|access|visibility|privacy|restrictions?|protections?|auth|authentication|locks?|features?|options?|settings?|flags?|guards?|gates?)?(?:type|mode|method|level|control|kind|by)?s?)$/;
/** Texts that say that there is no password. */
const SAYS_NONE = /^(?:no|without|ohne|kein|sans|sin)|(?:disabled|off|none|less)$/;
const HASH = /hash|digest|bcrypt|scrypt|argon|crypted|encrypted/;
/** What may accompany the word in the name of a column that holds the password itself. */
const BESIDE =
  /^(?:the|my|short|link|links|url|page|access|visitor|redirect|clear|cleartext|plain|plaintext|text|value|raw|s|\.)*$/;

/** Objects in a row that are about a person, or are a person's own: their passwords are not the link's. */
const NOT_OF_LINK = /^(?:user|owner|creator|createdby|updatedby|author|account|member|customer|metadata)$/;

/** Values that mean that there is no password, or that there is one. Other words could be passwords themselves. */
const NO_PASSWORD = /^(?:|\\n|null|false|f|no|n|0)$/i;
const SOME_PASSWORD = /^(?:true|t|yes|y|1)$/i;
/** Texts in place of a password that the other service does not show. */
const MASKS = [
  /[*•●∙⁎·■▪█×＊]{3,}/,
  /^[x.#?_\-–—…]{3,}$/i,
  /^(?:<[^>]*>|\[[^\]]*\]|__.+__.*)$/s,
  /[_<[{(*:|%#-](?:masked|redacted|hidden|filtered|obfuscated|encrypted|protected|removed|omitted|secret)[_>\]})*:|%#-]/i,
];
const EITHER =
  /^(?:none|nil|undefined|n\/a|na|-+|off|disabled|unset|empty|nein|non|nee|нет|否|无|on|enabled|set|protected|hidden|masked|redacted|filtered|encrypted|obfuscated|omitted|censored|private|unchanged|unavailable|ja|oui|si|sí|да|是)$/i;

/** Deeper objects are ignored. */
const DEPTH = 4;

const NOT_HELD =
  'the link has a password, which the file does not hold: add it in clear in a column `password`, or its bcrypt, scrypt, or argon2 hash in `password_hash`';
const AMBIGUOUS =
  'may mean a password or none: give the password in clear, `true` where there is one, or nothing where there is none';
const UNUSABLE =
  'is a hash of the password that cannot be checked here: only bcrypt, scrypt, and argon2 at a usual cost can. Give the password in clear';
const SEVERAL = 'the row has several passwords, which differ';

/**
 * Returns the password of a row's link, whatever its column is called; null: there is none.
 *
 * @throws {RowProblem} when the file only mentions a password, or it can't be read: without it anyone could follow the
 *   link
 */
export function passwordOf(row: SourceRow): RowPassword | null {
  const found: RowPassword[] = [];
  let problem: RowProblem | null = null;
  for (const name of Object.keys(row.values)) if (isPasswordColumn(name)) row.columns.get(columnKey(name));
  for (const entry of entriesOf(row.values)) {
    row.columns.readInside(entry.top, entry.column);
    const outcome = readEntry(entry);
    if (outcome instanceof RowProblem) problem ??= outcome;
    else if (outcome !== null) found.push(outcome);
  }
  const clear = found.filter((one) => 'clear' in one);
  const chosen = clear.length > 0 ? clear : found;
  const [first, ...others] = chosen;
  if (others.some((one) => textOf(one) !== (first && textOf(first)))) {
    throw new RowProblem(first?.column ?? null, SEVERAL);
  }
  if (first) return first;
  if (problem) throw problem;
  return null;
}

/** Returns whether the name of a column means a password or whether there is one. */
export function isPasswordColumn(name: string): boolean {
  return kindOf(name) !== null;
}

/** Columns of text about the link, in which the word is only a subject. */
const FREE_TEXT =
  /title|name|desc|note|comment|remark|tag|label|categor|folder|group|campaign|utm|keyword|slug|alias|path|text|subject|query/;
/** What may accompany the word in a value that says that there is a password. */
const SAYS_THERE_IS =
  /^(?:protect(?:ed|ion)|required|needed|only|with|by|set|enabled|locked|gated|link|the)*$/;

/**
 * Refuses a row that says in any other column that its link has a password, as `private: "password"`.
 *
 * @throws {RowProblem}
 */
export function refuseSaidPassword({ values, columns }: SourceRow): void {
  const said = nestedValues(values).find(({ top, column, path, value }) => {
    const key = columnKey(top);
    if (columns.read.has(key) || columns.inside.get(key)?.has(column)) return false;
    return typeof value === 'string' && !path.some((one) => FREE_TEXT.test(one)) && isWordForPassword(value);
  });
  if (said) throw new RowProblem(said.column, NOT_HELD);
}

function isWordForPassword(text: string): boolean {
  const key = keyOf(text);
  if (SHORT_WORDS.includes(key)) return true;
  const word = WORDS.find((one) => key.includes(one));
  return word !== undefined && SAYS_THERE_IS.test(key.replace(word, ''));
}

const textOf = (one: RowPassword) => ('clear' in one ? one.clear : one.hash);

/** A value whose name means a password. */
type Entry = { top: string; column: string; kind: Kind; value: unknown };
/** `value`: the password itself. `hash`. `mention`: whether there is one, or something about it. */
type Kind = 'value' | 'hash' | 'mention';

/** Where values are. `names`: those around them that mean a password. `kind`: what the innermost of them means. */
type Around = {
  top: string;
  path: string;
  names: string;
  kind: Kind | null;
  saysHow: boolean;
  depth: number;
};
const OUTSIDE: Around = { top: '', path: '', names: '', kind: null, saysHow: false, depth: 0 };

function* entriesOf(values: object, around = OUTSIDE): Generator<Entry> {
  for (const [name, value] of Object.entries(values)) {
    const inList = Array.isArray(values);
    const key = inList ? '' : keyOf(name);
    const column = around.path === '' ? name : `${around.path}.${name}`;
    const top = around.top || name;
    const own = inList ? null : kindOf(name);
    const names = inList ? around.names : `${around.names} ${name}`;
    const inside = around.kind === 'value' && BESIDE.test(key) ? 'value' : around.kind && 'mention';
    const kind = around.kind === 'mention' && own === 'value' ? own : (kindOf(names) ?? inside);
    const saysHow = inList ? around.saysHow : SAYS_HOW.test(key);
    const inner = objectIn(value);
    if (inner !== null) {
      if (around.depth === DEPTH || NOT_OF_LINK.test(key)) continue;
      // `password: { enabled: true, value: "…" }`
      const named = kind !== null ? { names, kind } : { names: '', kind: null };
      yield* entriesOf(inner, { top, path: column, ...named, saysHow, depth: around.depth + 1 });
    } else if (kind !== null) yield { top, column, kind, value };
    else if (saysHow && typeof value === 'string' && saysPassword(value)) {
      yield { top, column: inList ? around.path : column, kind: 'mention', value: true };
    }
  }
}

function saysPassword(text: string): boolean {
  return kindOf(text) !== null && !SAYS_NONE.test(keyOf(text));
}

function kindOf(name: string): Kind | null {
  const key = keyOf(name);
  if (WHOLE_MENTIONS.test(key)) return 'mention';
  if (WHOLE.includes(key)) return 'value';
  const word =
    WORDS.find((one) => key.includes(one)) ??
    wordsOf(name).find((one) => SHORT_WORDS.includes(one)) ??
    AMONG.exec(key)?.[1] ??
    CODES.exec(key)?.[1];
  if (word === undefined) return null;
  if (HASH.test(key)) return 'hash';
  return key.split(word).every((rest) => BESIDE.test(rest)) ? 'value' : 'mention';
}

/** Returns the words of `link_pw`, `linkPw` and `Link PW`. */
function wordsOf(name: string): string[] {
  const parted = name.replaceAll(/(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2 ');
  return parted.split(/[^\p{L}\p{N}\p{M}]+/u).map(keyOf);
}

/** Returns a name for comparison: letters and digits, without case and accents. */
const keyOf = plainText;

function readEntry({ column, kind, value }: Entry): RowPassword | RowProblem | null {
  if (value === null || value === undefined || value === false || value === 0) return null;
  const text = String(value);
  const word = text.trim();
  if (NO_PASSWORD.test(word) || (kind === 'mention' && /^(?:none|off|open|public)$/i.test(word))) return null;
  if (kind === 'mention' || value === true || SOME_PASSWORD.test(word))
    return new RowProblem(column, NOT_HELD);
  const use = hashUseOf(word);
  if (use === 'usable') return { column, hash: word };
  if (MASKS.some((form) => form.test(word))) return new RowProblem(column, NOT_HELD);
  if (use === 'unusable' || kind === 'hash') return new RowProblem(column, UNUSABLE);
  const bare = word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '');
  return EITHER.test(word) || EITHER.test(bare) ? new RowProblem(column, AMBIGUOUS) : { column, clear: text };
}
