import { channelName } from '../formats.ts';
import { LetterMark } from './letter-mark.tsx';

/** The address of each icon by path. Files of their own, so that a page loads those that it shows. */
const FILES = import.meta.glob('../channel-icons/*.svg', {
  query: '?url&no-inline',
  import: 'default',
  eager: true,
});

/** Colors of brands that are seen on both themes; others have the text's. */
const COLORS: Record<string, string> = {
  bluesky: '#1185fe',
  discord: '#5865f2',
  facebook: '#0866ff',
  google_business: '#4285f4',
  instagram: '#e4405f',
  linkedin: '#0a66c2',
  mastodon: '#6364ff',
  pinterest: '#e60023',
  reddit: '#ff4500',
  telegram: '#26a5e4',
  youtube: '#ff0000',
};

/** The icon of a channel before its name; of one without an icon, its first letter. */
export function ChannelMark({ channel }: { channel: string }) {
  const file = FILES[`../channel-icons/${channel}.svg`];
  if (file === undefined) return <LetterMark name={channelName(channel)} />;
  return (
    <span
      className="channel-mark"
      aria-hidden="true"
      style={{ maskImage: `url(${file})`, color: COLORS[channel] }}
    />
  );
}

/** A channel's icon and name. */
export const ChannelName = ({ channel }: { channel: string }) => (
  <span className="channel-name">
    <ChannelMark channel={channel} />
    {channelName(channel)}
  </span>
);
