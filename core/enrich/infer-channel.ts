import { ANDROID_APPS, IN_APP_MARKS } from './channel-apps.ts';
import { CHANNEL_HOSTS } from './channel-hosts.ts';
import type { CreatableChannel } from './channels.ts';
import { LEMMY_HOSTS, MASTODON_HOSTS } from './federated-hosts.ts';
import { COUNTRY_HOSTS, COUNTRY_SUFFIXES, FIRST_LABELS } from './host-patterns.ts';
import { type RefererOrigin, refererOrigin } from './referer.ts';

/** Limit of the parsed part of a user agent: real ones with in-app marks are below 600 characters. */
const USER_AGENT_LIMIT = 1_024;

const byHost = hostTable();
const byFirstLabel = new Map<string, CreatableChannel>(FIRST_LABELS);
const byAndroidApp = new Map<string, CreatableChannel>(ANDROID_APPS);
const marks = IN_APP_MARKS.map(([mark, channel]) => ({ mark: mark.toLowerCase(), channel }));

/**
 * Returns the channel of a Smart Link's click: by the referer's host (or Android app), else by the mark of an in-app
 * browser in the user agent, else `other`.
 *
 * @param referer the `Referer` header as sent, empty when there was none
 * @param userAgent the `User-Agent` header as sent
 */
export function inferChannel(referer: string, userAgent: string): CreatableChannel {
  return channelOfReferer(referer) ?? channelOfUserAgent(userAgent) ?? 'other';
}

/** Returns the channel of a referer's host or Android app; null when no table has it. */
export function channelOfReferer(referer: string): CreatableChannel | null {
  const origin = refererOrigin(referer);
  return origin && channelOfOrigin(origin);
}

/** Returns the channel of a host or Android app; null when no table has it. */
export function channelOfOrigin(origin: RefererOrigin): CreatableChannel | null {
  return (origin.app ? longestPrefix(origin.name) : null) ?? longestSuffix(origin.name);
}

/** Returns the channel of the in-app browser whose mark is in the user agent, or null. */
export function channelOfUserAgent(userAgent: string): CreatableChannel | null {
  if (userAgent === '') return null;
  const text = userAgent.slice(0, USER_AGENT_LIMIT).toLowerCase();
  for (const { mark, channel } of marks) if (text.includes(mark)) return channel;
  return null;
}

/** Looks a host up from the right: `a.b.example.com`, `b.example.com`, `example.com`, `com`. */
function longestSuffix(host: string): CreatableChannel | null {
  let at = 0;
  for (;;) {
    const found = byHost.get(at === 0 ? host : host.slice(at));
    if (found !== undefined) return found;
    const dot = host.indexOf('.', at);
    if (dot < 0) break;
    at = dot + 1;
  }
  // A first label counts only on a host below a domain: `mail.example.org`, never `mail.org`.
  const first = host.indexOf('.');
  if (first < 0 || host.indexOf('.', first + 1) < 0) return null;
  return byFirstLabel.get(host.slice(0, first)) ?? null;
}

/** Looks a package up from the left: `com.facebook.katana`, `com.facebook`, `com`. */
function longestPrefix(pkg: string): CreatableChannel | null {
  for (let end = pkg.length; end > 0; end = pkg.lastIndexOf('.', end - 1)) {
    const found = byAndroidApp.get(pkg.slice(0, end));
    if (found !== undefined) return found;
  }
  return null;
}

function hostTable(): Map<string, CreatableChannel> {
  const table = new Map<string, CreatableChannel>();
  for (const [label, channel] of COUNTRY_HOSTS) {
    for (const suffix of COUNTRY_SUFFIXES) table.set(`${label}.${suffix}`, channel);
  }
  for (const [channel, hosts] of Object.entries(CHANNEL_HOSTS)) {
    for (const host of hosts) table.set(host, channel as CreatableChannel);
  }
  for (const host of MASTODON_HOSTS) table.set(host, 'mastodon');
  for (const host of LEMMY_HOSTS) table.set(host, 'lemmy');
  return table;
}
