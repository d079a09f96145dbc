import { Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { CREATABLE_CHANNELS } from '../../../../../core/enrich/channels.ts';
import { channelName } from '../../../formats.ts';
import { ChoiceChips } from '../../../parts/choice-chips.tsx';
import { TextPress } from '../../../parts/text-press.tsx';
import type { FormFields } from './fields.ts';

const SMART = 'smart';
/** Channels that are shown at first. */
const COMMON = ['instagram', 'facebook', 'tiktok', 'youtube', 'linkedin', 'twitter', 'newsletter', 'website'];
const OTHERS = CREATABLE_CHANNELS.filter((key) => !COMMON.includes(key));

function about(channels: readonly string[]): string {
  if (channels.length === 0) return 'One short link for every channel: it is detected for each click.';
  if (channels.length === 1)
    return 'One short link, for posts on this channel. Choose more to get a link for each.';
  return `${channels.length} short links, one for each channel.`;
}

/** Chooses the channels of a new link, or a Smart Link. */
export function ChannelChips(fields: FormFields) {
  const {
    draft: { channels },
    set,
    wrong,
  } = fields;
  const [isOpen, setOpen] = useState(false);
  const shown = [...COMMON, ...OTHERS.filter((key) => isOpen || channels.includes(key))];
  const toggle = (value: string) => {
    if (value === SMART) return set('channels', []);
    set(
      'channels',
      channels.includes(value) ? channels.filter((one) => one !== value) : [...channels, value],
    );
  };
  return (
    <div>
      <ChoiceChips
        label="Channels"
        description={about(channels)}
        choices={[SMART, ...shown].map((value) => ({ value, label: channelName(value) }))}
        chosen={channels.length === 0 ? [SMART] : channels}
        onToggle={toggle}
        error={wrong('channels') ?? wrong('channel')}
      >
        {!isOpen && (
          <UnstyledButton className="choice" onClick={() => setOpen(true)}>
            More channels
          </UnstyledButton>
        )}
      </ChoiceChips>
      <MediumOfMail {...fields} />
    </div>
  );
}

/**
 * Offers the medium `email`, which analytics tools expect of mail. Every channel but Google Business sends `social`.
 */
function MediumOfMail({ draft: { channels, utm_medium: medium }, set }: FormFields) {
  if (channels.length !== 1 || channels[0] !== 'newsletter') return null;
  if (medium.trim() !== '' && medium !== 'email') return null;
  return (
    <Text size="sm" c="dimmed" mt="xs" role="status">
      {medium === 'email'
        ? 'utm_medium is “email”, as analytics tools expect of mail. '
        : 'utm_medium is “social”, as of every channel; analytics tools count mail as “email”. '}
      <TextPress onClick={() => set('utm_medium', medium === 'email' ? '' : 'email')}>
        {medium === 'email' ? 'Use “social”' : 'Use “email”'}
      </TextPress>
    </Text>
  );
}
