import { isbot } from 'isbot';
import { CLICK_FLAGS } from '../events/types.ts';

const UNWATCHED = CLICK_FLAGS.head | CLICK_FLAGS.prefetch;

/**
 * Returns whether a request is not a person's: a crawler, a link preview or an HTTP library by its user agent
 * (package `isbot`), a `HEAD`, or a prefetch.
 *
 * An empty user agent counts as a bot. Every browser sends one, also in private modes, while scripts and health
 * checks often do not.
 *
 * @param flags bits of `CLICK_FLAGS`
 */
export function isBot(userAgent: string, flags: number): boolean {
  return isUnwatched(flags) || isBotAgent(userAgent);
}

/** Returns whether the request is a `HEAD` or a prefetch: the part of {@link isBot} without the user agent. */
export function isUnwatched(flags: number): boolean {
  return (flags & UNWATCHED) !== 0;
}

/**
 * The block that Facebook's and Messenger's in-app browsers add, or send alone. `isbot` reads its fields as marks of
 * crawlers: `FBMF/Google` is the maker of a Pixel.
 */
const FACEBOOK_BLOCK = /\[FB(?:AN|AV|_IAB)\/[^\]]{0,600}\]?/g;

/**
 * Prefixes of browsers' user agents, and marks of browsers on phones before smartphones. Any other agent is a program:
 * an HTTP library (`Dart/3.1`), an app's own client (`MyApp/1 CFNetwork/1410`, `Dalvik/2.1.0`), a mail client.
 */
const BROWSER =
  /^["'(]?(?:Mozilla|Opera)\/|^["'(]*Macintosh|MIDP|CLDC|Opera Mini|UC ?WEB|UCBrowser|UP\.Browser|DoCoMo|Obigo/i;

/**
 * Programs that send the agent of a browser and that `isbot` does not know. Office requests a link before the
 * browser opens it. `Amzn-User` fetches for Amazon's assistant. The others test pages or scan them.
 */
const PROGRAMS =
  /\bms-?office\b|\bMicrosoft Office\b|\bOneTrust\b|PowerShell\/|\bGTmetrix\b|\bYLT\b|\bAmzn-User\b|\bMS Web Services Client\b|\bMiniature\.io\b|\bCFNetwork\/(?!.{0,200}\b(?:Safari|Version)\/)|\bTSM-turingos\b/i;

/** Returns whether the user agent is a bot's: the other part of {@link isBot}. */
export function isBotAgent(userAgent: string): boolean {
  if (userAgent === '') return true;
  const rest = userAgent.includes('[FB') ? userAgent.replaceAll(FACEBOOK_BLOCK, '').trim() : userAgent;
  // In-app browsers of Facebook may send their block alone.
  if (rest === '') return false;
  return !BROWSER.test(rest) || PROGRAMS.test(rest) || isbot(rest);
}
