import { ActionIcon, Button, Checkbox, Group, Input, Stack, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { fieldSentence } from '../../api/sentence.ts';
import { SmallNote } from '../../parts/note.tsx';
import { useFocusAdded } from '../../parts/use-focus-added.ts';
import type { PortalRow } from './portal-draft.ts';

/** Most questions of an application. */
const MOST = 10;

type Props = { rows: PortalRow[]; error: unknown; change: (rows: PortalRow[]) => void };

/** What an application asks besides name and email. */
export function PortalFields({ rows, error, change }: Props) {
  const { list, adding } = useFocusAdded<HTMLDivElement>(rows.length);
  const set = (key: number, part: Partial<PortalRow>) =>
    change(rows.map((row) => (row.key === key ? { ...row, ...part } : row)));
  const add = () => {
    adding();
    const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
    change([...rows, { key, name: '', label: '', required: false }]);
  };
  return (
    <Stack gap="xs" role="group" aria-label="Questions">
      <Input.Label component="div">Questions</Input.Label>
      <SmallNote>Name and email are always asked.</SmallNote>
      <Stack gap="xs" ref={list}>
        {rows.map(({ key, label, required }, n) => (
          <Group key={key} gap="xs" wrap="nowrap" align="flex-start">
            <TextInput
              aria-label={`Question ${n + 1}`}
              style={{ flex: 1, minWidth: 0 }}
              placeholder="Where will you share the link?"
              maxLength={100}
              value={label}
              error={
                fieldSentence(error, `portal.fields.${n}.label`, 'The question') ??
                fieldSentence(error, `portal.fields.${n}.name`, 'The name of its answer')
              }
              onChange={(event) => set(key, { label: event.currentTarget.value })}
            />
            <Checkbox
              mt={8}
              label="Required"
              aria-label={`Question ${n + 1} is required`}
              checked={required}
              onChange={(event) => set(key, { required: event.currentTarget.checked })}
            />
            <ActionIcon
              variant="default"
              size={36}
              aria-label={`Remove question ${n + 1}`}
              title="Remove"
              onClick={() => change(rows.filter((row) => row.key !== key))}
            >
              <IconTrash size={16} stroke={1.6} />
            </ActionIcon>
          </Group>
        ))}
      </Stack>
      <Group>
        <Button size="xs" variant="default" onClick={add} disabled={rows.length >= MOST}>
          Add a question
        </Button>
      </Group>
    </Stack>
  );
}
