import { ANDROID_APPS, IN_APP_MARKS } from './channel-apps.ts';
import { CHANNEL_HOSTS } from './channel-hosts.ts';
import type { CreatableChannel } from './channels.ts';
import { LEMMY_HOSTS, MASTODON_HOSTS } from './federated-hosts.ts';
import { COUNTRY_HOSTS, COUNTRY_SUFFIXES, FIRST_LABELS } from './host-patterns.ts';
import { refererOrigin } from './referer.ts';

/** Longest part of a user agent that is looked at: real ones with in-app marks are below 600 characters. */
const USER_AGENT_LOOKED_AT = 1_024;

const byHost = hostTable();
const byFirstLabel = new Map<string, CreatableChannel>(FIRST_LABELS);
const byAndroidApp = new Map<string, CreatableChannel>(ANDROID_APPS);
const marks = IN_APP_MARKS.map(([mark, channel]) => ({ mark: mark.toLowerCase(), channel }));

/**
 * The channel of a Smart Link's click: by the referer's host (or Android app), else by the marks of an in-app
 * browser in the user agent, else `other`. A referer that no table knows decides nothing.
 *
 * @param referer the `Referer` header as sent, empty when there was none
 * @param userAgent the `User-Agent` header as sent
 */
export function inferChannel(referer: string, userAgent: string): CreatableChannel {
  return channelOfReferer(referer) ?? channelOfUserAgent(userAgent) ?? 'other';
}

/** The channel of a referer's host or Android app, null when no table knows it. */
export function channelOfReferer(referer: string): CreatableChannel | null {
  const origin = refererOrigin(referer);
  if (origin === null) return null;
  return origin.app ? longestPrefix(origin.name) : longestSuffix(origin.name);
}

/** The channel whose in-app browser left its mark in the user agent, null when there is none. */
export function channelOfUserAgent(userAgent: string): CreatableChannel | null {
  if (userAgent === '') return null;
  const text = userAgent.slice(0, USER_AGENT_LOOKED_AT).toLowerCase();
  for (const { mark, channel } of marks) if (text.includes(mark)) return channel;
  return null;
}

/** Host tables read from the right: `a.b.example.com`, `b.example.com`, `example.com`, `com`. */
function longestSuffix(host: string): CreatableChannel | null {
  let at = 0;
  for (;;) {
    const found = byHost.get(at === 0 ? host : host.slice(at));
    if (found !== undefined) return found;
    const dot = host.indexOf('.', at);
    if (dot < 0) break;
    at = dot + 1;
  }
  // A first label tells only on a host below somebody's domain: `mail.example.org`, never `mail.org`.
  const first = host.indexOf('.');
  if (first < 0 || host.indexOf('.', first + 1) < 0) return null;
  return byFirstLabel.get(host.slice(0, first)) ?? null;
}

/** Package names read from the left: `com.facebook.katana`, `com.facebook`, `com`. */
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
