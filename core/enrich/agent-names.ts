// Browsers run this file too.
/** Name of an unknown browser or system. */
export const UNKNOWN_AGENT_PART = 'Other';

/**
 * Names of `my-ua-parser` 2.0.4 in the spelling of their makers. The parser copies most of them from the user agent,
 * and agents spell them in any case, but a report must show one row for each.
 */
const SYSTEMS = `
AIX, AmigaOS, Android, Android-x86, Arch, Bada, BeOS, BlackBerry, CentOS, Chromecast, Contiki, Debian, Deepin,
DragonFly, Edubuntu, elementary OS, Fedora, Firefox OS, FreeBSD, Fuchsia, Gentoo, GhostBSD, GNU, Haiku, HarmonyOS,
HP-UX, Hurd, iOS, Joli, KaiOS, Kubuntu, Linpus, Linux, Lubuntu, macOS, Maemo, Mageia, Mandriva, Manjaro, MeeGo, Minix,
Mint, MorphOS, NetBSD, NetRange, NetTV, Nintendo, OpenBSD, OpenSolaris, openSUSE, OpenVMS, OS/2, Palm, PC-BSD,
PCLinuxOS, Plan 9, PlayStation, QNX, Raspbian, Red Hat, RIM Tablet OS, RISC OS, Sabayon, Sailfish, SerenityOS,
Series40, Slackware, Solaris, SUSE, Symbian, Tizen, Ubuntu, Unix, VectorLinux, VIERA, watchOS, webOS, Windows,
Windows Mobile, Windows Phone, Xbox, Xubuntu, Zenwalk
`;

const BROWSERS = `
2345Explorer, 360 Browser, Alipay, Amaya, Android Browser, Arora, Avant, AVG Secure Browser, Avast Secure Browser, Baidu, Basilisk, Blazer,
Bolt, Bowser, Brave, Camino, Chimera, Chrome, Chrome Headless, Chrome WebView, Chromium, Cobalt, Coc Coc, Comodo Dragon, Conkeror, Dillo,
Dolphin, Dooble, Doris, DuckDuckGo, Edge, Electron, Epiphany, Facebook, Falkon, Fennec, Firebird, Firefox, Firefox Focus,
Firefox Reality, Flock, Flow, GoBrowser, Heytap, Huawei Browser, iCab, IceApe, IceCat, IceDragon, Iceweasel, IE,
IEMobile, Instagram, Iridium, Iron, Jasmine, K-Meleon, KakaoStory, KakaoTalk, KHTML, Kindle, Klar, Klarna,
Konqueror, LBBROWSER, Line, LinkedIn, Links, Lunascape, Lynx, Maemo Browser, Maxthon, Midori, Minimo, MIUI Browser, Mobile Safari, Mosaic, Mozilla, Naver,
NetFront, Netscape, NetSurf, NokiaBrowser, Nokia Browser, Obigo, Oculus Browser, OmniWeb, Opera, Opera Coast, Opera GX, Opera Mini,
Opera Mobi, Opera Tablet, Opera Touch, Ovi, Pale Moon, PhantomJS, Phoenix, Polaris, Puffin, QQ, QQBrowser, QQBrowserLite, Quark,
QupZilla, Rekonq, Rockmelt, Safari, Sailfish Browser, Samsung Internet, SeaMonkey, Silk, Skyfire, Sleipnir, Slim,
Smart Lenovo Browser, Snapchat, Sogou Explorer, Sogou Mobile, Swiftfox, Tesla, TikTok, Tizen Browser, Twitter, UCBrowser, UP.Browser,
Vivaldi, Vivo Browser, w3m, Waterfox, WebKit, WeChat, Weibo, Whale, Yandex
`;

/** Outdated names, in lower case, and their replacements. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['chromium os', 'ChromeOS'],
  ['gsa', 'Google App'],
  ['mac os', 'macOS'],
  ['palemoon', 'Pale Moon'],
  ['tizenbrowser', 'Tizen Browser'],
  ['redhat', 'Red Hat'],
  ['windows phone os', 'Windows Phone'],
];

const namesIn = (list: string) => list.trim().split(/,\s+/);

/** Every browser that the parser names, as reports name it. */
export const BROWSER_NAMES: readonly string[] = [...namesIn(BROWSERS), 'Google App', UNKNOWN_AGENT_PART];

/** Every system that the parser names, as reports name it. */
export const SYSTEM_NAMES: readonly string[] = [...namesIn(SYSTEMS), 'ChromeOS', UNKNOWN_AGENT_PART];

const CANONICAL: ReadonlyMap<string, string> = new Map([
  ...[...SYSTEM_NAMES, ...BROWSER_NAMES].map((name) => [name.toLowerCase(), name] as const),
  ...RENAMED,
]);

/**
 * Returns the one spelling of a browser's or system's name. A name that is not in the table gets capital initials.
 *
 * @param name as the parser returns it; undefined when it knows none
 */
export function agentPartName(name: string | undefined): string {
  if (name === undefined || name === '') return UNKNOWN_AGENT_PART;
  const folded = name.toLowerCase();
  return CANONICAL.get(folded) ?? folded.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}
