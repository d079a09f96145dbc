import { expect, test } from 'vitest';
import { CLICK_FLAGS } from '../events/types.ts';
import { isBot } from './bots.ts';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';

test('a browser is not a bot', () => {
  expect(isBot(CHROME, 0)).toBe(false);
  expect(isBot(CHROME, CLICK_FLAGS.counted)).toBe(false);
});

test('a HEAD request and a prefetch are bots whatever their user agent', () => {
  expect(isBot(CHROME, CLICK_FLAGS.head)).toBe(true);
  expect(isBot(CHROME, CLICK_FLAGS.prefetch)).toBe(true);
  expect(isBot(CHROME, CLICK_FLAGS.prefetch | CLICK_FLAGS.counted)).toBe(true);
});

test('an empty user agent is a bot, since every browser sends one', () => {
  expect(isBot('', 0)).toBe(true);
});

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 Chrome/130 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'curl/8.9.1',
  'Wget/1.21',
  'python-requests/2.31.0',
  'Go-http-client/1.1',
  'axios/1.7.2',
  'node',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/130.0.0.0 Safari/537.36',
  'GPTBot/1.2',
])('the crawler or library %s is a bot', (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(true);
});

test.each([
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'Twitterbot/1.0',
  'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'TelegramBot (like TwitterBot)',
  'WhatsApp/2.23.20.0 A',
  'Pinterestbot/1.0 (+https://www.pinterest.com/bot.html)',
  'Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)',
  'Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)',
  'http.rb/5.1.1 (Mastodon/4.1.2; +https://mastodon.social/)',
  'Lemmy/0.19.3; +https://lemmy.world',
  'SkypeUriPreview Preview/0.5',
  'Iframely/1.3.1 (+https://iframely.com/docs/about)',
  'Embedly/0.2',
  'Snap URL Preview Service; bot; snapchat; https://developers.snap.com/robots',
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  'Mozilla/5.0 (compatible; vkShare; +http://vk.com/dev/Share)',
  'BingPreview/1.0b',
])('the link preview %s is a bot', (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(true);
});

test.each([
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 309.0.0.28.114',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/450.0.0.38.108]',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29',
  'Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/113 Mobile Safari/537.36 Telegram-Android/9.6.5',
  'Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9013 Chrome/108.0 Electron/22.3.2 Safari/537.36',
])('a person in the app %s is not a bot', (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(false);
});
