/**
 * User agents of programs that show a card for a link which someone shares: networks, messengers, and tools of teams.
 * Proxies of images and crawlers of search engines are left out: they show no card. iMessage sends the names of
 * Facebook's and Twitter's bots, LINE and KakaoTalk Facebook's, and Signal WhatsApp's.
 */
const PREVIEW_BOT = new RegExp(
  [
    'facebookexternalhit|Facebot|meta-external(?:hit|fetcher)',
    'Twitterbot|LinkedInBot|Slackbot|^WhatsApp|TelegramBot|Discordbot|redditbot|pinterest\\.com/bot|Mastodon/|Lemmy/',
    'Bluesky(?!-domain)|Friendica|SummalyBot|OdklBot|vkShare|VKRobot|Linespider|^Viber|^Tumblr/|Quora-Bot|Xing Bot|XING-contenttabreceiver|GG PeekBot',
    'Snap ?URL ?Preview|GroupMeBot|KeybaseBot|Synapse \\(bot|SteamChatURLLookup',
    // Servers of Pleroma and Akkoma begin with their version, and end with "Bot".
    'ZulipURLPreview|^Pleroma |^Akkoma ',
    'SkypeUriPreview|MicrosoftPreview/|Yahoo Link Preview|FastmailUA',
    'Mattermost-Bot|Discourse Forum Onebox|DingTalkBot-LinkService|^Notion/|CodaBot|EvernoteRichLinkBot',
    'Mediumbot-MetaTagFetcher|FlipboardProxy|Iframely|Embedly|OpenGraph\\.io|EveryoneSocialBot|LoomlyBot',
    'Link ?Preview|Unfurl',
  ].join('|'),
  'i',
);

/**
 * Returns whether a user agent is a link preview's.
 *
 * @param userAgent of a bot (see `bots.ts`): apps of people name some of these too
 */
export function isPreviewBot(userAgent: string): boolean {
  return PREVIEW_BOT.test(userAgent);
}
