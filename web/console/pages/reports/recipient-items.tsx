import { Stack, Text } from '@mantine/core';
import { CHAT_NAMES, type Report } from './report-draft.ts';

type Recipient = Report['recipients'][number];

const STATE_WORDS: Record<Recipient['state'], string | null> = {
  ok: null,
  unconfirmed: 'not confirmed yet',
  unsubscribed: 'wants no mail',
  failing: 'failing',
};

/** Where a report or an alert goes, and what is wrong with it. */
export function Recipients({ of, recipients }: { of: string; recipients: readonly Recipient[] }) {
  return (
    <Stack component="ul" gap={2} className="plain-list" aria-label={`Recipients of ${of}`}>
      {recipients.map((recipient) => (
        <RecipientItem key={`${recipient.type} ${recipient.address}`} recipient={recipient} />
      ))}
    </Stack>
  );
}

function RecipientItem({ recipient: { type, address, state, error } }: { recipient: Recipient }) {
  const words = STATE_WORDS[state];
  // The rest of a chat's address is a secret.
  const shown = type === 'email' ? address : `${CHAT_NAMES[type]} (${URL.parse(address)?.host ?? address})`;
  return (
    <li style={{ overflowWrap: 'anywhere' }}>
      {shown}
      {words !== null && (
        <Text size="xs" c={state === 'unconfirmed' ? 'dimmed' : 'red'}>
          {error ?? words}
        </Text>
      )}
    </li>
  );
}
