import { expect, test } from 'vitest';
import { CHANNEL_HOSTS } from './channel-hosts.ts';
import { SOURCE_HOSTS } from './source-hosts.ts';
import { SOURCE_KINDS } from './source-kinds.ts';
import { sourceName } from './sources.ts';
import { storedReferer } from './stored-referer.ts';

const sourceIn = (referer: string) => {
  const { source, sourceKind } = storedReferer(referer);
  return `${source}, ${sourceKind}`;
};

test.each([
  ['', 'direct, direct'],
  ['about:blank', 'direct, direct'],
  ['https://chatgpt.com/', 'ChatGPT, ai'],
  ['https://chat.openai.com/c/1', 'ChatGPT, ai'],
  ['https://claude.ai/chat/1', 'Claude, ai'],
  ['https://www.perplexity.ai/search?q=a', 'Perplexity, ai'],
  ['https://gemini.google.com/app', 'Gemini, ai'],
  ['https://copilot.microsoft.com/', 'Copilot, ai'],
  ['android-app://com.openai.chatgpt/', 'ChatGPT, ai'],
  ['https://www.google.co.uk/', 'Google, search'],
  ['https://www.google.com/url?q=a', 'Google, search'],
  ['android-app://com.google.android.googlequicksearchbox/https/www.google.com', 'Google, search'],
  ['https://docs.google.com/document/d/1', 'Google, site'],
  ['https://news.google.com/', 'Google News, site'],
  ['https://cn.bing.com/search?q=a', 'Bing, search'],
  ['https://search.yahoo.com/', 'Yahoo, search'],
  ['https://search.yahoo.co.jp/', 'Yahoo, search'],
  ['https://mail.yahoo.com/', 'Yahoo Mail, mail'],
  ['https://mail.google.com/mail/u/0/', 'Gmail, mail'],
  ['android-app://com.google.android.gm/', 'Gmail, mail'],
  ['https://webmail.firm.example/', 'webmail.firm.example, mail'],
  ['https://old.reddit.com/r/a', 'Reddit, social'],
  ['https://t.co/abc', 'X, social'],
  ['https://l.facebook.com/l.php?u=a', 'Facebook, social'],
  ['android-app://com.facebook.katana/', 'Facebook, social'],
  ['https://news.ycombinator.com/item?id=1', 'Hacker News, social'],
  ['https://mastodon.social/@a', 'Mastodon, social'],
  ['https://m.youtube.com/watch?v=a', 'YouTube, video'],
  ['https://github.com/a/b', 'GitHub, code'],
  ['https://stackoverflow.com/q/1', 'Stack Overflow, code'],
  ['https://www.blog.example:8443/a', 'blog.example, site'],
  ['https://notgoogle.com/', 'notgoogle.com, site'],
  ['https://google.com.evil.example/', 'google.com.evil.example, site'],
  ['android-app://org.example.reader/', 'org.example.reader, app'],
  [`https://${'a'.repeat(300)}.example/`, 'direct, direct'],
])('the source of a visitor from %j is %s', (referer, expected) => {
  expect(sourceIn(referer)).toBe(expected);
});

test.each([
  ['google', 'Google'],
  ['CHATGPT', 'ChatGPT'],
  ['x', 'X'],
  ['DIRECT', 'direct'],
  ['Blog.Example', 'blog.example'],
])('a filter by the source %j asks for %j', (value, expected) => {
  expect(sourceName(value)).toBe(expected);
});

test('every entry of the table is one owner, of one kind', () => {
  const entries = Object.values(SOURCE_HOSTS).flatMap((owners) =>
    Object.values(owners).flatMap((list) => list.split(' ')),
  );
  expect(entries.length).toBeGreaterThan(200);
  expect(entries.filter((entry, n) => entries.indexOf(entry) !== n)).toEqual([]);
  expect(entries.filter((entry) => !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*(\.\*)?$/.test(entry))).toEqual([]);
});

test('every host of a channel has a source of a kind that is known', () => {
  const found = Object.values(CHANNEL_HOSTS).flatMap((hosts) =>
    hosts.map((host) => storedReferer(`https://${host}/`)),
  );
  expect(found.filter(({ sourceKind }) => !SOURCE_KINDS.includes(sourceKind))).toEqual([]);
  expect(found.filter(({ source, sourceKind }) => source === '' || sourceKind === 'direct')).toEqual([]);
});
