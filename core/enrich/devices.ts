// Browsers run this file too.
/**
 * Kinds of devices. `wearable` includes glasses and headsets. `other` names no device, such as an HTTP library or an
 * empty user agent. A crawler has the device that it claims.
 */
export const DEVICES = ['desktop', 'mobile', 'tablet', 'tv', 'console', 'wearable', 'other'] as const;
export type Device = (typeof DEVICES)[number];

/** Limit of the parsed part of a user agent; the device is in its first half. */
const PARSED_LIMIT = 512;

const CONSOLE = /PlayStation|Xbox|Nintendo|Ouya/i;
const TV =
  /SMART-?TV|Apple ?TV|tvOS|Google ?TV|Android TV|BRAVIA|\bAFT[A-Z]{1,2}\b|\bAFT\w{2,10} Build|CrKey|Roku|HbbTV|NetCast|Web0S|webOS\.TV|Tizen.{0,40}\bTV\b|VIDAA|VIERA|\bTV Box|MiTV|MIBOX|SmartHub|Opera TV|InettvBrowser|PhilipsTV|\bDTV\b|Chromecast/i;
const WEARABLE =
  /watchOS|Apple Watch|Watch ?OS|Wear ?OS|Galaxy Watch|\bSM-R\d{3}|\bGlass \d|OculusBrowser|\bQuest( \d| Pro)?[;)\s]|Vision ?Pro|Pico (Neo|4)/i;
const TABLET =
  /iPad|Tablet(?! PC)|PlayBook|\bSilk\/(?!.{0,200}Mobile)|Kindle(?!.{0,200}Mobile)|\bKF[A-Z]{2,5}\b|\bSM-[TPX]\d{3}|\bGT-(P\d|N[58])\d{3}|Nexus (7|9|10)\b|Xoom|Transformer|\bMediaPad|\bMatePad|Lenovo TB|\bBTV-\w{3}|\bTB-\w?\d{3,4}|hp-tablet|TouchPad|RCT\d{4}/i;
const MOBILE =
  /Mobi|iPhone|iPod|Windows Phone|IEMobile|BlackBerry|\bBB10\b|Opera Mini|Opera Mobi|Symbian|SymbOS|Series ?[46]0|\bMIDP|\bCLDC|KAIOS|UCWEB|J2ME|BREW|hpwOS|webOS\/|Palm(OS|Source)|DoCoMo|\bNokia|SonyEricsson|\bFBAN\/(?:FB4A|FBIOS|Orca|EMA|Messenger)/i;
const DESKTOP =
  /Windows|Macintosh|Mac OS X|Mac_PowerPC|X11|CrOS|Linux|FreeBSD|OpenBSD|NetBSD|SunOS|Haiku|OS\/2/i;

/**
 * Returns the device by the user agent alone. Targeting and reports use this same function, so they agree.
 *
 * An iPad that requests desktop sites says Macintosh and counts as desktop: no header tells them apart.
 */
export function deviceOf(userAgent: string): Device {
  const text = userAgent.length > PARSED_LIMIT ? userAgent.slice(0, PARSED_LIMIT) : userAgent;
  if (TV.test(text)) return 'tv';
  if (CONSOLE.test(text)) return 'console';
  if (WEARABLE.test(text)) return 'wearable';
  if (TABLET.test(text)) return 'tablet';
  if (MOBILE.test(text)) return 'mobile';
  // Browsers on Android say "Mobile" on phones and omit it on tablets.
  if (/Android/i.test(text)) return 'tablet';
  return DESKTOP.test(text) ? 'desktop' : 'other';
}

/** Returns whether targeting sends a visitor to the mobile destination: phones, tablets and watches. */
export function isMobile(userAgent: string): boolean {
  return isMobileDevice(deviceOf(userAgent));
}

/** {@link isMobile} for a known device. */
export function isMobileDevice(device: Device): boolean {
  return device === 'mobile' || device === 'tablet' || device === 'wearable';
}
