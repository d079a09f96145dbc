import { expect, test } from 'vitest';
import {
  CHANNELS,
  CREATABLE_CHANNELS,
  creatableChannel,
  filterChannel,
  isChannel,
  utmMediumOf,
} from './channels.ts';

test('every channel of the specification may be created', () => {
  const specified =
    'facebook instagram youtube linkedin twitter tiktok newsletter website other threads bluesky mastodon ' +
    'pinterest reddit telegram discord tumblr google_business nostr lemmy slack devto';
  expect([...CREATABLE_CHANNELS]).toEqual(specified.split(' '));
  for (const key of CREATABLE_CHANNELS) expect(creatableChannel(key)).toBe(key);
});

test('bio and referral may be filtered by, but not created', () => {
  for (const key of ['bio', 'referral']) {
    expect(isChannel(key)).toBe(true);
    expect(creatableChannel(key)).toBeNull();
    expect(filterChannel(key)).toBe(key);
  }
});

test('x is an alias of twitter', () => {
  expect(creatableChannel('x')).toBe('twitter');
  expect(filterChannel('x')).toBe('twitter');
  expect(isChannel('x')).toBe(false);
});

test.each(['', 'Facebook', 'X', 'fax', 'constructor', '__proto__', ' twitter'])(
  '%j is not a channel',
  (text) => {
    expect(creatableChannel(text)).toBeNull();
    expect(filterChannel(text)).toBeNull();
  },
);

test('utm_medium is social, and local for google_business alone', () => {
  const local = CHANNELS.filter((channel) => utmMediumOf(channel) === 'local');
  expect(local).toEqual(['google_business']);
});
