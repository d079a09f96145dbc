import { ActionIcon, Button, Group, Input, NativeSelect, Stack, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { fieldSentence } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { SmallNote } from '../../parts/note.tsx';
import { useFocusAdded } from '../../parts/use-focus-added.ts';
import { CHAT_NAMES, type RecipientRow } from './report-draft.ts';

const TYPES = (Object.keys(CHAT_NAMES) as RecipientRow['type'][]).map((value) => ({
  value,
  label: CHAT_NAMES[value],
}));

/** Most recipients of a report. */
const MOST = 20;

type Props = { rows: RecipientRow[]; error: unknown; change: (rows: RecipientRow[]) => void };

/** Where a report goes: addresses, and incoming webhooks of chats. */
export function RecipientFields({ rows, error, change }: Props) {
  const { sends_mail: sendsMail } = useSession();
  const { list, adding } = useFocusAdded<HTMLDivElement>(rows.length);
  const set = (key: number, part: Partial<RecipientRow>) =>
    change(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () => {
    adding();
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
    change([...rows, { key, type: sendsMail ? 'email' : 'slack', address: '' }]);
  };
  return (
    <Stack gap="xs" role="group" aria-label="Recipients">
      <Input.Label component="div">Recipients</Input.Label>
      <SmallNote>
        {sendsMail
          ? 'Email addresses, or the addresses of incoming webhooks of Slack or Discord. An email address without a membership first gets a mail to confirm.'
          : 'Addresses of incoming webhooks of Slack or Discord. This service sends no mail until its operator sets SMTP_URL.'}
      </SmallNote>
      <Stack gap="xs" ref={list}>
        {rows.map(({ key, type, address }, n) => (
          <Group key={key} gap="xs" wrap="nowrap" align="flex-start">
            <NativeSelect
              aria-label={`Way ${n + 1}`}
              w={104}
              data={TYPES}
              value={type}
              error={fieldSentence(error, `recipients.${n}.type`) && true}
              onChange={(event) => set(key, { type: event.currentTarget.value as RecipientRow['type'] })}
            />
            <TextInput
              aria-label={`Address ${n + 1}`}
              style={{ flex: 1, minWidth: 0 }}
              placeholder={type === 'email' ? 'grace@shop.example' : 'https://'}
              autoCapitalize="none"
              spellCheck={false}
              maxLength={2_048}
              value={address}
              error={
                fieldSentence(error, `recipients.${n}.address`, 'The address') ??
                fieldSentence(error, `recipients.${n}.type`, 'The way')
              }
              onChange={(event) => set(key, { address: event.currentTarget.value })}
            />
            <ActionIcon
              variant="default"
              size={36}
              aria-label={`Remove recipient ${n + 1}`}
              title="Remove"
              disabled={rows.length === 1}
              onClick={() => change(rows.filter((row) => row.key !== key))}
            >
              <IconTrash size={16} stroke={1.6} />
            </ActionIcon>
          </Group>
        ))}
      </Stack>
      <Group>
        <Button size="xs" variant="default" onClick={add} disabled={rows.length >= MOST}>
          Add a recipient
        </Button>
      </Group>
    </Stack>
  );
}
