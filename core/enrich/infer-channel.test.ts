import { describe, expect, test } from 'vitest';
import { ANDROID_APPS } from './channel-apps.ts';
import { CHANNEL_HOSTS } from './channel-hosts.ts';
import { CREATABLE_CHANNELS } from './channels.ts';
import { LEMMY_HOSTS, MASTODON_HOSTS } from './federated-hosts.ts';
import { COUNTRY_HOSTS, FIRST_LABELS } from './host-patterns.ts';
import { channelOfReferer, channelOfUserAgent, inferChannel } from './infer-channel.ts';

const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';

/** Referers as browsers and apps send them, at least two of each channel key. */
const REFERERS: Record<(typeof CREATABLE_CHANNELS)[number], string[]> = {
  facebook: [
    'https://www.facebook.com/',
    'http://m.facebook.com',
    'https://l.facebook.com/l.php?u=https%3A%2F%2Fgo.example',
    'https://lm.facebook.com/',
    'https://de-de.facebook.com/',
    'https://fb.me/x',
    'https://www.messenger.com/t/1',
    'android-app://com.facebook.katana/',
    'android-app://com.facebook.orca',
    'android-app://m.facebook.com/',
  ],
  instagram: [
    'https://www.instagram.com/',
    'https://l.instagram.com/?u=x',
    'android-app://com.instagram.android/',
  ],
  youtube: [
    'https://www.youtube.com/redirect?q=x',
    'https://m.youtube.com/',
    'https://youtu.be/x',
    'android-app://com.google.android.youtube/',
  ],
  linkedin: ['https://www.linkedin.com/feed/', 'https://lnkd.in/abc', 'android-app://com.linkedin.android/'],
  twitter: [
    'https://t.co/abc',
    'https://x.com/',
    'https://mobile.twitter.com/',
    'android-app://com.twitter.android/',
    'android-app://com.twitter.lite',
    'android-app://t.co/',
  ],
  tiktok: ['https://www.tiktok.com/', 'https://vm.tiktok.com/x', 'android-app://com.zhiliaoapp.musically/'],
  newsletter: [
    'https://mail.google.com/',
    'https://outlook.live.com/',
    'https://outlook.office.com/mail/',
    'https://eur01.safelinks.protection.outlook.com/?url=x',
    'https://mail.yahoo.com/',
    'https://mail.yahoo.co.jp/',
    'https://mail.proton.me/',
    'https://someone.substack.com/p/x',
    'https://us1.campaign-archive.com/?u=x',
    'https://example.us1.list-manage.com/track/click',
    'https://webmail.hoster.example/',
    'https://mail.company.example/owa',
    'android-app://com.google.android.gm/',
    'android-app://com.microsoft.office.outlook/',
  ],
  website: [
    'https://www.google.com/',
    'https://www.google.co.uk/search?q=x',
    'https://google.de/',
    'https://www.bing.com/',
    'https://duckduckgo.com/',
    'https://search.yahoo.com/',
    'https://yandex.com.tr/',
    'https://someone.wordpress.com/x',
    'https://x.blogspot.com.br/',
    'https://medium.com/@a/b',
    'android-app://com.google.android.googlequicksearchbox/',
    'android-app://com.google.android.apps.searchlite/',
  ],
  other: [
    'https://news.ycombinator.com/item?id=1',
    'https://www.snapchat.com/',
    'https://web.whatsapp.com/',
    'https://vk.com/',
  ],
  threads: [
    'https://www.threads.net/',
    'https://l.threads.net/',
    'https://www.threads.com/',
    'android-app://com.instagram.barcelona/',
  ],
  bluesky: ['https://bsky.app/', 'https://go.bsky.app/redirect?u=x', 'android-app://xyz.blueskyweb.app/'],
  mastodon: [
    'https://mastodon.social/',
    'https://fosstodon.org/@a/1',
    'https://mastodon.example.org/',
    'android-app://org.joinmastodon.android/',
  ],
  pinterest: [
    'https://www.pinterest.com/',
    'https://www.pinterest.co.uk/',
    'https://br.pinterest.com/',
    'https://www.pinterest.de/pin/1',
    'https://pin.it/x',
    'android-app://com.pinterest/',
  ],
  reddit: [
    'https://www.reddit.com/',
    'https://out.reddit.com/t3_x',
    'https://old.reddit.com/',
    'https://redd.it/x',
    'android-app://com.reddit.frontpage/',
  ],
  telegram: [
    'https://t.me/channel',
    'https://web.telegram.org/',
    'android-app://org.telegram.messenger/',
    'android-app://org.telegram.plus/',
  ],
  discord: [
    'https://discord.com/',
    'https://discordapp.com/',
    'https://ptb.discord.com/',
    'android-app://com.discord/',
  ],
  tumblr: [
    'https://www.tumblr.com/dashboard',
    'https://someone.tumblr.com/',
    'https://t.umblr.com/redirect?z=x',
    'android-app://com.tumblr/',
  ],
  google_business: [
    'https://business.google.com/',
    'https://maps.google.com/',
    'https://maps.google.co.uk/',
    'https://g.page/x',
    'android-app://com.google.android.apps.maps/',
  ],
  nostr: [
    'https://snort.social/',
    'https://primal.net/',
    'https://iris.to/',
    'android-app://com.vitorpamplona.amethyst/',
  ],
  lemmy: [
    'https://lemmy.world/c/x',
    'https://feddit.org/',
    'https://old.lemmy.ml/',
    'https://lemmy.example.net/',
    'https://sh.itjust.works/',
  ],
  slack: [
    'https://app.slack.com/client/x',
    'https://team.slack.com/',
    'https://slack-redir.net/link?url=x',
    'android-app://com.Slack/',
  ],
  devto: ['https://dev.to/', 'https://dev.to/someone/x-123'],
};

describe('the channel of a referer', () => {
  for (const channel of CREATABLE_CHANNELS) {
    test.each(REFERERS[channel])(`is ${channel} for %s`, (referer) => {
      expect(channelOfReferer(referer)).toBe(channel);
      expect(inferChannel(referer, '')).toBe(channel);
    });
  }

  test.each([
    'https://notfacebook.com/',
    'https://facebook.com.evil.example/',
    'https://evil.example/?u=https://facebook.com/',
    'https://evil.example/#https://t.co',
    'https://t.co.example/',
    'https://pinterest.evil/',
    'https://mail.example/',
    'https://mastodon/',
    'android-app://com.facebookish/',
    'android-app://org.example/',
    'https://unknown.example/',
    'facebook.com',
    '/relative',
    'javascript://facebook.com',
    'ftp://facebook.com/',
    'about:blank',
    'https://',
    'https:///facebook.com',
    '://',
    '',
  ])('is unknown for %j', (referer) => {
    expect(channelOfReferer(referer)).toBeNull();
    expect(inferChannel(referer, '')).toBe('other');
  });

  test('ignores case, ports, credentials and trailing dots', () => {
    expect(channelOfReferer('HTTPS://WWW.Facebook.COM:443/x')).toBe('facebook');
    expect(channelOfReferer('https://user:pw@t.co/x')).toBe('twitter');
    expect(channelOfReferer('https://t.co@evil.example/x')).toBeNull();
    expect(channelOfReferer('https://reddit.com./')).toBe('reddit');
  });
});

const IN_APP: [string, string][] = [
  ['facebook', `${SAFARI} [FBAN/FBIOS;FBAV/450.0.0.38.108;FBBV/564431005;FBDV/iPhone14,5;FBMD/iPhone]`],
  [
    'facebook',
    'Mozilla/5.0 (Linux; Android 13; SM-A536B; wv) AppleWebKit/537.36 Chrome/119 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/440.0.0.35.105;]',
  ],
  ['facebook', `${SAFARI} [FBAN/MessengerForiOS;FBAV/400.0]`],
  ['instagram', `${SAFARI} Instagram 309.0.0.28.114 (iPhone14,5; iOS 17_5; en_US) [FBAN/FBIOS;FBAV/1]`],
  ['threads', `${SAFARI} Barcelona 309.0.0.20.108 (iPhone14,5; iOS 17_5; en_US)`],
  ['linkedin', `${SAFARI} [LinkedInApp]/9.29.7134`],
  ['twitter', `${SAFARI} Twitter for iPhone/10.5`],
  [
    'twitter',
    'Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 Chrome/119 Mobile Safari/537.36 TwitterAndroid',
  ],
  ['tiktok', `${SAFARI} musical_ly_32.5.0 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/en`],
  [
    'tiktok',
    'Mozilla/5.0 (Linux; Android 12; SM-G991B; wv) AppleWebKit/537.36 Chrome/118 Mobile Safari/537.36 BytedanceWebview/d8a21c6',
  ],
  ['tiktok', 'Mozilla/5.0 (Linux; Android 12; wv) AppleWebKit/537.36 Mobile Safari/537.36 trill_2023009040'],
  ['pinterest', `${SAFARI} [Pinterest/iOS]`],
  ['reddit', `${SAFARI} Reddit/Version 2023.45.0/Build 614974/iOS Version 17.5`],
  [
    'telegram',
    'Mozilla/5.0 (Linux; Android 13; Pixel 7; wv) AppleWebKit/537.36 Chrome/113 Mobile Safari/537.36 Telegram-Android/9.6.5 (Google Pixel 7)',
  ],
  [
    'discord',
    'Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) discord/1.0.9013 Chrome/108.0 Electron/22.3.2 Safari/537.36',
  ],
  [
    'slack',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Slack/4.29.149 Chrome/106 Electron/21 Safari/537.36',
  ],
  ['other', `${SAFARI} Snapchat/12.58.0.50 (like Safari/8615.3.12, panda)`],
];

describe('the channel of an in-app browser', () => {
  test.each(IN_APP)('is %s for %s', (channel, userAgent) => {
    expect(channelOfUserAgent(userAgent)).toBe(channel);
    expect(inferChannel('', userAgent)).toBe(channel);
    expect(inferChannel('https://unknown.example/', userAgent)).toBe(channel);
  });

  test('yields to the referer’s host', () => {
    const instagram = `${SAFARI} Instagram 309.0.0.28.114`;
    expect(inferChannel('https://t.co/x', instagram)).toBe('twitter');
    expect(inferChannel('https://www.snapchat.com/', instagram)).toBe('other');
  });

  test('is unknown for a plain browser, so that the click is other', () => {
    expect(channelOfUserAgent(SAFARI)).toBeNull();
    expect(channelOfUserAgent('')).toBeNull();
    expect(inferChannel('', SAFARI)).toBe('other');
  });

  test('reads a bounded part of the user agent', () => {
    expect(channelOfUserAgent(`${'x'.repeat(100_000)} Instagram`)).toBeNull();
  });
});

describe('the tables', () => {
  const listed = [...Object.values(CHANNEL_HOSTS).flat(), ...MASTODON_HOSTS, ...LEMMY_HOSTS];

  test('name each host once, in the form in which hosts are compared', () => {
    expect(listed.filter((host, index) => listed.indexOf(host) !== index)).toEqual([]);
    expect(listed.filter((host) => !/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host))).toEqual([]);
  });

  test('map every listed host, and anything below it, to its own channel', () => {
    for (const [channel, hosts] of Object.entries(CHANNEL_HOSTS)) {
      for (const host of hosts) {
        expect(channelOfReferer(`https://${host}/`)).toBe(channel);
        expect(channelOfReferer(`https://a.b.${host}/`)).toBe(channel);
      }
    }
    for (const host of MASTODON_HOSTS) expect(channelOfReferer(`https://${host}/`)).toBe('mastodon');
    for (const host of LEMMY_HOSTS) expect(channelOfReferer(`https://${host}/`)).toBe('lemmy');
  });

  test('hold keys of apps and labels in lower case', () => {
    for (const [key] of [...ANDROID_APPS, ...COUNTRY_HOSTS, ...FIRST_LABELS])
      expect(key).toBe(key.toLowerCase());
  });

  test('know hosts of every channel', () => {
    for (const channel of CREATABLE_CHANNELS) expect(REFERERS[channel].length).toBeGreaterThan(1);
  });
});
