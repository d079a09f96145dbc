import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { isBotAgent } from './bots.ts';
import { isPreviewBot } from './preview-bots.ts';

type Crawler = { instances: string[]; tags?: string[] };
const crawlers = createRequire(import.meta.url)('crawler-user-agents') as Crawler[];

/** Tagged as previews of links by `crawler-user-agents`, though they show no card. */
const NO_CARD = [
  // Proxies of images.
  /Slack-ImgProxy|GoogleImageProxy|github-camo|YahooMailProxy|Shortwave Image|TwilioProxy/,
  // Pictures of pages for a search engine, counters of shares, readers of other files, indexes.
  /BingPreview|Google Web Preview|TweetmemeBot|AddThis|Jetslide|NewShareCounts|AASA-Bot|NING\/|Hatena|Goodreads/,
  /domain-status-classifier|meta-webindexer|meta-externalagent|TikTokSpider|Supabase|\(dbot\)|ListGemBot/,
  // People in the app of Facebook.
  /MetaIAB Facebook/,
];

test('every agent that crawler-user-agents tags as a link preview gets the card, but those that show none', () => {
  const previews = crawlers.filter(({ tags }) => tags?.includes('social-preview'));
  const agents = previews.flatMap(({ instances }) => instances);
  expect(agents.length).toBeGreaterThan(130);
  const wrong = agents.filter(
    (agent) => (isBotAgent(agent) && isPreviewBot(agent)) === NO_CARD.some((one) => one.test(agent)),
  );
  expect(wrong).toEqual([]);
});

test('no other crawler gets the card', () => {
  const others = crawlers.filter(({ tags }) => !tags?.includes('social-preview'));
  expect(others.flatMap(({ instances }) => instances).filter(isPreviewBot)).toEqual([]);
});

const MESSENGERS = {
  iMessage:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  LINE: 'facebookexternalhit/1.1;line-poker/1.0',
  KakaoTalk: 'facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984',
  Signal: 'WhatsApp/2',
  Zulip: 'Mozilla/5.0 (compatible; ZulipURLPreview/9.0; +https://chat.example)',
  Pleroma: 'Pleroma 2.9.1; https://social.example <admin@social.example>; Bot',
  Akkoma: 'Akkoma 3.15.2; https://social.example <admin@social.example>; Bot',
  XING: 'Mozilla/5.0 (compatible; XING-contenttabreceiver/2.0)',
  Bluesky: 'Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)',
};

test.each(Object.entries(MESSENGERS))('%s gets the card', (_, agent) => {
  expect([isBotAgent(agent), isPreviewBot(agent)]).toEqual([true, true]);
});

test.each([
  'Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/113 Mobile Safari/537.36 Telegram-Android/9.6.5',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [LinkedInApp]/9.29',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]',
  'Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9013 Chrome/108.0 Electron/22.3.2 Safari/537.36',
])('a person in the app %s gets no card', (agent) => {
  expect(isBotAgent(agent) && isPreviewBot(agent)).toBe(false);
});
