// Browsers run this file too.
/** Name of an unknown browser or system. */
export const UNKNOWN_AGENT_PART = 'Other';

/**
 * Names of `my-ua-parser` 2.0.4 in the spelling of their makers. The parser copies most of them from the user agent,
 * and agents spell them in any case, but a report must show one row for each.
 */
const NAMES = `
AIX, AmigaOS, Android, Android-x86, Arch, Bada, BeOS, BlackBerry, CentOS, Chromecast, Contiki, Debian, Deepin,
DragonFly, Edubuntu, elementary OS, Fedora, Firefox OS, FreeBSD, Fuchsia, Gentoo, GhostBSD, GNU, Haiku, HarmonyOS,
HP-UX, Hurd, iOS, Joli, KaiOS, Kubuntu, Linpus, Linux, Lubuntu, macOS, Maemo, Mageia, Mandriva, Manjaro, MeeGo, Minix,
Mint, MorphOS, NetBSD, NetRange, NetTV, Nintendo, OpenBSD, OpenSolaris, openSUSE, OpenVMS, OS/2, Palm, PC-BSD,
PCLinuxOS, Plan 9, PlayStation, QNX, Raspbian, Red Hat, RIM Tablet OS, RISC OS, Sabayon, Sailfish, SerenityOS,
Series40, Slackware, Solaris, SUSE, Symbian, Tizen, Ubuntu, Unix, VectorLinux, VIERA, watchOS, webOS, Windows,
Windows Mobile, Windows Phone, Xbox, Xubuntu, Zenwalk,
360 Browser, Alipay, Amaya, Android Browser, Arora, Avant, AVG Secure Browser, Avast Secure Browser, Baidu, Blazer,
Bolt, Bowser, Brave, Camino, Chimera, Chrome, Chrome Headless, Chrome WebView, Chromium, Coc Coc, Comodo Dragon, Dillo,
Dolphin, Dooble, Doris, DuckDuckGo, Edge, Electron, Epiphany, Facebook, Falkon, Fennec, Firefox, Firefox Focus,
Firefox Reality, Flock, Flow, GoBrowser, Heytap, Huawei Browser, iCab, IceApe, IceCat, IceDragon, Iceweasel, IE,
IEMobile, Instagram, Iridium, Iron, Jasmine, K-Meleon, KakaoStory, KakaoTalk, KHTML, Kindle, Klarna, Konqueror,
LBBROWSER, Line, Links, Lunascape, Lynx, Maxthon, Midori, Minimo, MIUI Browser, Mobile Safari, Mosaic, Mozilla, Naver,
NetFront, Netscape, NetSurf, NokiaBrowser, Oculus Browser, OmniWeb, Opera, Opera Coast, Opera GX, Opera Mini,
Opera Mobi, Opera Tablet, Opera Touch, Ovi, PhantomJS, Phoenix, Polaris, Puffin, QQ, QQBrowser, QQBrowserLite, Quark,
QupZilla, Rekonq, Rockmelt, Safari, Sailfish Browser, Samsung Internet, SeaMonkey, Silk, Skyfire, Sleipnir, Slim,
Smart Lenovo Browser, Snapchat, Sogou Explorer, Sogou Mobile, Swiftfox, Tesla, TikTok, Twitter, UCBrowser, UP.Browser,
Vivaldi, Vivo Browser, w3m, Waterfox, WebKit, WeChat, Weibo, Whale, Yandex
`;

/** Outdated names, in lower case, and their replacements. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['chromium os', 'ChromeOS'],
  ['gsa', 'Google App'],
  ['mac os', 'macOS'],
  ['redhat', 'Red Hat'],
  ['windows phone os', 'Windows Phone'],
];

const CANONICAL: ReadonlyMap<string, string> = new Map([
  ...NAMES.trim()
    .split(/,\s+/)
    .map((name) => [name.toLowerCase(), name] as const),
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
