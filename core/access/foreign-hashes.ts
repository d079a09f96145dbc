import { scrypt, timingSafeEqual } from 'node:crypto';

/**
 * Reads and checks password hashes of other services, which links keep when they are imported:
 *
 * - bcrypt: `$2a$`, `$2b$`, `$2x$`, `$2y$` with a cost from 4 to 14 (PHP, Node.js, Laravel, Django with its prefix)
 * - argon2: `$argon2i$`, `$argon2d$`, `$argon2id$` in the PHC form
 * - scrypt: the PHC form `$scrypt$ln=14,r=8,p=1$salt$key`, and Werkzeug's `scrypt:N:r:p$salt$hexadecimal key`
 *
 * A hash that costs more than the limits is refused: the redirect tier checks it for anyone who submits the form.
 */

/** Most memory and work of a check: about a second of one core. */
const MOST_MEMORY_KIB = 262_144;
const MOST_BCRYPT_COST = 14;
const MOST_ARGON2_WORK_KIB = 1_048_576;
const MOST_LANES = 16;

const BCRYPT = /^(?:bcrypt\$|\{bcrypt\})?(\$2[abxy]\$(\d\d)\$[./A-Za-z0-9]{53})$/;
const ARGON2 =
  /^(?:argon2(?=\$argon2)|\{argon2\})?(\$argon2(?:id|i|d)\$(?:v=\d+\$)?m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{8,128})$/;
const PHC_SCRYPT =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{8,128})\$([A-Za-z0-9+/]{8,128})$/;
const WERKZEUG_SCRYPT = /^scrypt:(\d{1,8}):(\d{1,3}):(\d{1,3})\$([A-Za-z0-9]{4,64})\$([0-9a-f]{32,128})$/;

/** Other forms of hashes and of encrypted texts. */
const OTHER = [
  // `crypt`, PHPass
  /^\$[A-Za-z0-9-]{1,12}\$.+/s,
  // `sha256:…`, `pbkdf2_sha256$…`, `SHA-512=…`, `enc:v1:…`: what made it goes before it
  /^(?:pbkdf2|ssha|sha|smd5|md[245]|bcrypt|argon2|scrypt|yescrypt|crypt|hmac|ntlm|blake|ripemd|whirlpool|hash|digest|enc|aes|base64|b64)[a-z0-9_.-]*[$:|;=].{8,}/is,
  // LDAP's
  /^\{[A-Za-z0-9-]{3,12}\}.{8,}/s,
  // Sink's `sink-pwd:v1:iterations:salt:key`, and `salt:key` with a version or a count before it
  /^[a-z][\w.-]*[:$](?:[\w.+/=-]*[:$])+[\w+/=-]{16,}$/i,
  /^(?:[\w+/=-]+[:$|;])+[\w+/=-]{24,}$/,
  // Digests, also beside their salt
  /^(?:[\w+/=-]+[:$.|;])*[0-9a-f]{32,}(?:[:$.|;][\w+/=-]+)*$/i,
  /^(?:0x|\\x)[0-9a-f]{32,}$/i,
  /^\*[0-9a-f]{40}$/i,
  /^(?:[A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{27}=|[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9+/_-]{86}==)$/,
  // OpenSSL's, Fernet's, and texts of JSON in base64
  /^(?:U2FsdGVkX1|gAAAA|eyJ)[\w+/=.-]{20,}$/,
];

type Scrypt = { kind: 'scrypt'; N: number; r: number; p: number; salt: Buffer; key: Buffer };
type Foreign = { kind: 'bcrypt' | 'argon2'; text: string } | Scrypt;

/**
 * Returns how a text of a file can be used as a password's hash. `no hash`: it does not look like one. `unusable`: it
 * is one of a kind, or of a cost, that can't be checked here.
 */
export function hashUseOf(text: string): 'usable' | 'unusable' | 'no hash' {
  if (isForeignHash(text) || isAffordableOwn(text)) return 'usable';
  return OTHER.some((form) => form.test(text)) ? 'unusable' : 'no hash';
}

/** Returns whether this is a hash of another service that {@link matchesForeignHash} checks. */
export function isForeignHash(text: string): boolean {
  return parse(text) !== null;
}

/**
 * Returns whether a hash of another service is of `password`. Runs off the event loop. Other services hash the text as
 * it was typed, mostly in composed letters.
 */
export async function matchesForeignHash(password: string, hash: string): Promise<boolean> {
  const foreign = parse(hash);
  if (foreign === null) return false;
  for (const text of new Set([password, password.normalize('NFC')])) {
    if (await matches(foreign, text)) return true;
  }
  return false;
}

async function matches(foreign: Foreign, password: string): Promise<boolean> {
  if (foreign.kind === 'scrypt') return scryptMatches(foreign, password);
  // Loaded at the first use: most deployments have no such link.
  if (foreign.kind === 'bcrypt') return (await import('@node-rs/bcrypt')).verify(password, foreign.text);
  return (await import('@node-rs/argon2')).verify(foreign.text, password);
}

function scryptMatches({ N, r, p, salt, key }: Scrypt, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, key.length, { N, r, p, maxmem: 2 ** 29 }, (error, derived) =>
      error ? reject(error) : resolve(timingSafeEqual(derived, key)),
    );
  });
}

function parse(text: string): Foreign | null {
  const [, bcrypt, cost] = BCRYPT.exec(text) ?? [];
  if (bcrypt && Number(cost) >= 4 && Number(cost) <= MOST_BCRYPT_COST)
    return { kind: 'bcrypt', text: bcrypt };
  const [, argon2, memory, time, lanes] = ARGON2.exec(text) ?? [];
  if (argon2 && isAffordable(Number(memory), Number(time), Number(lanes)))
    return { kind: 'argon2', text: argon2 };
  return parseScrypt(text);
}

function isAffordable(memory: number, time: number, lanes: number): boolean {
  return (
    memory >= 8 * lanes &&
    memory <= MOST_MEMORY_KIB &&
    time >= 1 &&
    memory * time <= MOST_ARGON2_WORK_KIB &&
    lanes >= 1 &&
    lanes <= MOST_LANES
  );
}

function isAffordableScrypt(N: number, r: number, p: number): boolean {
  const isPower = N > 1 && Number.isInteger(Math.log2(N));
  return isPower && r >= 1 && p >= 1 && p <= MOST_LANES && (N * r) / 8 <= MOST_MEMORY_KIB;
}

function parseScrypt(text: string): Scrypt | null {
  const phc = PHC_SCRYPT.exec(text);
  const werkzeug = WERKZEUG_SCRYPT.exec(text);
  const [, cost = '', blocks = '', lanes = '', salt = '', key = ''] = phc ?? werkzeug ?? [];
  const N = phc ? 2 ** Number(cost) : Number(cost);
  const [r, p] = [Number(blocks), Number(lanes)];
  if (!isAffordableScrypt(N, r, p)) return null;
  return {
    kind: 'scrypt',
    N,
    r,
    p,
    salt: phc ? Buffer.from(salt, 'base64') : Buffer.from(salt),
    key: phc ? Buffer.from(key, 'base64') : Buffer.from(key, 'hex'),
  };
}

/** A hash of this service, from a copy of its table. */
const OWN = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$[A-Za-z0-9_-]{8,128}\$[A-Za-z0-9_-]{8,128}$/;

function isAffordableOwn(text: string): boolean {
  const [, N = '', r = '', p = ''] = OWN.exec(text) ?? [];
  return isAffordableScrypt(Number(N), Number(r), Number(p));
}
