import { plainText } from './plain-text.ts';

const wordsIn = (text: string) => text.trim().split(/\s+/).map(plainText);

/** The word for a password in the languages of the services, which counts in any part of a name. */
export const WORDS = wordsIn(`
  password passwd passphrase passcode passwort kennwort geheimwort losungswort passord adgangskode losenord wachtwoord
  wagwoord lykilorð motdepasse contrasena palavrapasse contrasenya pasahitza senha parola heslo jelszo salasana lozinka
  zaporka parool slaptazodis kodeord katasandi katalaluan matkhau nenosiri fjalekalim лозинка парола пароль құпиясөз
  პაროლი գաղտնաբառ รหัสผ่าน رمزعبور گذرواژه كلمةالسر كلمةالمرور پاسورڈ συνθηματικο סיסמה סיסמא
  पासवर्ड পাসওয়ার্ড கடவுச்சொல் పాస్వర్డ్ 提取码 访问码 安全码 密码 密碼 口令 암호 비밀번호 パスコード 暗証番号
  パスワード 合言葉 pwd pswd
`);

/** Short words for it, which count where they are a word of a name: `has_pw`, `linkPw`. */
export const SHORT_WORDS = wordsIn('pw psw mdp sifre geslo haslo');

/** Whole names that are too short, or have too many meanings, to be looked for inside others. */
export const WHOLE = wordsIn(
  'pass pwd pw pincode pin accesspin linkpin codeword keyphrase secret clave hasło geslo şifre',
);

/** Names that say that not everyone may follow the link. */
export const WHOLE_MENTIONS =
  /^(?:is|has|was)?(?:link|url)?(?:protected|protection|locked|gated|secured)(?:link|at|on|by|since)?$/;

/** What may be before the word, in a name that has no separators. */
const BEFORE =
  '(?:has|have|with|requires?|needs?|uses?|is(?=pass|pw)|link|short|url|page|visitors?|guest|share|view|the|my|custom)*';
const BEHIND =
  '(?:protect(?:ed|ion|s)?|required|needed|enabled|active|set|is|hash(?:ed)?|salt|hint|code|value|text|clear|plain|raw|link|s(?=$))*';

/**
 * `pass` and `pin` also mean other things (`pass_through`, `pinned`). They count only if all other words of the name
 * are among these, even without separators.
 */
export const AMONG = new RegExp(`^(?:${BEFORE}(?:access|secret))*${BEFORE}(passw|pass|pin|pw)${BEHIND}$`);

/** What opens, in the languages of the services. */
const OPENER = either(`
  code codigo codi codice cod kod kodu kode koodi kodas key keys cle clave chave chiave schluessel schlussel sleutel
  nyckel nokkel klucz klic word wort woord ord phrase frase slovo код коду ключ слово фраза κωδικος κλειδι コード
  キー 코드 키
`);
/** What it opens, or is: an access code, a secret word. */
const OPENS = either(`
  access acceso acces acesso accesso accessi zugangs zugang zugriffs zugriff toegangs toegang adgangs atkomst tilgangs
  tilgang paasy dostepu pristupovy pristupove erisim giris hozzaferesi pieejas prieigos доступа доступу доступ кодовое
  секретное секретный секретная προσβασης アクセス 액세스 security seguridad securite seguranca sicurezza sicherheits
  bezpecnostni bezpieczenstwa guvenlik secret secreta secreto secrete segreto segreta segredo geheim geheimer hemlig unlock
  unlocking entsperr entsperrungs freischalt desbloqueo deblocage sblocco desbloqueio lock gate
`);
const OF = '(?:de|d|di|do|da|of|for|to|la|l)*';

/** Names that mean an access code: `código de acceso`, `Zugangscode`, `secret_word`. */
export const CODES = new RegExp(
  `^${BEFORE}((?:${OPENS})+s?${OF}(?:${OPENER})|(?:${OPENER})${OF}(?:${OPENS}))${BEHIND}$`,
);

function either(words: string): string {
  return [...new Set(wordsIn(words))].toSorted((a, b) => b.length - a.length).join('|');
}
