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

const PIXEL_IN_FACEBOOK =
  'Mozilla/5.0 (Linux; Android 13; Pixel 7 Build/TQ; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/113.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/450.0.0.38.108;FBMF/Google;]';

test.each([
  '[FBAN/FB4A;FBAV/450.0.0.38.108;FBBV/1;FBDM/{density=3.0};FBLC/en_US;FBCR/;FBMF/Google;FBBD/google;FBDV/Pixel 7;FBSV/13;]',
  '[FBAN/FBIOS;FBAV/450.0.0.38.108;FBBV/5;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.5;FBSS/3]',
  '[FBAN/Orca-Android;FBAV/444.0.0.21.111;FBMF/samsung;FBDV/SM-G991B;FBSV/13]',
  PIXEL_IN_FACEBOOK,
])("a person in Facebook's browser %s is not a bot", (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(false);
});

test("a crawler is a bot also with Facebook's block", () => {
  expect(isBot(`${PIXEL_IN_FACEBOOK} (compatible; Googlebot/2.1)`, 0)).toBe(true);
  expect(isBot('facebookexternalhit/1.1 [FBAN/FB4A;]', 0)).toBe(true);
});

test.each([
  'ms-office',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17328; Pro)',
  'Mozilla/4.0 (compatible; ms-office; MSOffice 16)',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; ms-office)',
  'OneTrust',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 OneTrust',
  'Dart/3.1 (dart:io)',
  'Mozilla/5.0 (Windows NT; Windows NT 10.0; de-DE) WindowsPowerShell/5.1.19041.1',
  'Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.19045; en-US) PowerShell/7.4.0',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/117.0.0.0 Safari/537.36 GTmetrix',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) AppleWebKit/537.36 (KHTML, like Gecko) YLT Chrome/85.0 Safari/537.36',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Amzn-User/0.1) Chrome/119.0.6045.214 Safari/537.36',
  'MyApp/1 CFNetwork/1410.0.3 Darwin/22.6.0',
  'okhttp/4.12.0',
  'MyApp/2.0 (com.example; Android 14) okhttp/4.12.0',
  'Dalvik/2.1.0 (Linux; U; Android 13; Pixel 7 Build/TQ3A.230805.001)',
  'MyApp/5 (iPhone; iOS 17.0; Scale/3.00)',
  'AppleCoreMedia/1.0.0.21F90 (iPhone; U; CPU OS 17_5_1 like Mac OS X; en_us)',
  'Outlook-iOS/709.2226530.prod.iphone (3.24.1)',
])('the program %s is a bot', (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(true);
});

test.each([
  'Nokia6230/2.0 (04.44) Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'Opera/9.80 (Android; Opera Mini/35.0.2254/111.24; U; en) Presto/2.12.423 Version/12.16',
  'UCWEB/2.0 (MIDP-2.0; U; Adr 4.4.4) U2/1.0.0 UCBrowser/10.7',
  'DoCoMo/2.0 N905i(c100;TB;W24H16)',
])('the browser %s of an older phone is not a bot', (userAgent) => {
  expect(isBot(userAgent, 0)).toBe(false);
});
