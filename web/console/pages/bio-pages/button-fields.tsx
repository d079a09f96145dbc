import { ActionIcon, Group, Paper, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp, IconGripVertical, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { AddressField } from '../../parts/address-field.tsx';
import { AT_ONCE, FormDialog } from '../../parts/form-dialog.tsx';
import { PictureField } from '../../parts/picture-field.tsx';
import { keptTo } from './character-limit.ts';
import type { DraftButton } from './draft.ts';
import { LABEL_MOST } from './edit-in-preview.ts';
import { fieldKey, type Wrong } from './problems.ts';
import type { useRowDrag } from './use-row-drag.ts';

type Props = {
  button: DraftButton;
  place: { index: number; of: number };
  wrong: Wrong;
  /** Whether removing it deletes a short link or clicks. */
  hasHistory: boolean;
  change: (fields: Partial<DraftButton>) => void;
  move: (to: number) => void;
  /** What reorders by a handle. */
  drag: ReturnType<typeof useRowDrag>;
  remove: () => void;
  /** Its statistics. */
  children?: ReactNode;
};

/** The API's limit, in characters. */
const EMOJI_MOST = 16;

/** Fields of a button or heading, with buttons to move and remove it. */
export function ButtonFields({
  button,
  place,
  wrong,
  hasHistory,
  change,
  move,
  drag,
  remove,
  children,
}: Props) {
  const { index } = place;
  const isLink = button.type === 'link';
  const name = button.label.trim() || `${isLink ? 'button' : 'heading'} ${index + 1}`;
  const problem = (field: string) => wrong(fieldKey('links', button.id, field));
  return (
    <Paper component="li" withBorder p="sm" data-button={button.id} data-drag={drag.stateOf(index)}>
      <Group justify="space-between" wrap="nowrap" mb="xs">
        <Group gap={4} wrap="nowrap" miw={0}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            className="drag-handle"
            aria-label={`Reorder ${name}`}
            title="Drag it, or press the arrow keys"
            data-moves="handle"
            {...drag.handle(index)}
          >
            <IconGripVertical size={18} stroke={1.6} />
          </ActionIcon>
          <Text fw={600} truncate>
            {isLink ? 'Button' : 'Heading'} {index + 1}
          </Text>
        </Group>
        <Group gap={4} wrap="nowrap">
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Move ${name} up`}
            data-moves="up"
            disabled={index === 0}
            onClick={() => move(index - 1)}
          >
            <IconArrowUp size={18} stroke={1.6} />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label={`Move ${name} down`}
            data-moves="down"
            disabled={index === place.of - 1}
            onClick={() => move(index + 1)}
          >
            <IconArrowDown size={18} stroke={1.6} />
          </ActionIcon>
          <RemoveButton name={name} hasHistory={hasHistory} remove={remove} />
        </Group>
      </Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
        <TextInput
          label={isLink ? 'Label' : 'Heading'}
          value={button.label}
          error={problem('label')}
          onChange={keptTo(LABEL_MOST, button.label, (label) => change({ label }))}
        />
        {isLink && (
          <AddressField
            label="Destination URL"
            placeholder="https://"
            maxLength={2048}
            value={button.url}
            error={problem('url')}
            onChange={(address) => change({ url: address })}
          />
        )}
        <TextInput
          label="Emoji"
          value={button.emoji}
          error={problem('emoji')}
          onChange={keptTo(EMOJI_MOST, button.emoji, (emoji) => change({ emoji }))}
        />
        {isLink && (
          <PictureField
            label="Image"
            of={name}
            value={button.image_url}
            error={problem('image_url')}
            onChange={(address) => change({ image_url: address })}
          />
        )}
      </SimpleGrid>
      {children}
    </Paper>
  );
}

/** Asks for confirmation if a short link or clicks are deleted. */
function RemoveButton({ name, hasHistory, remove }: { name: string } & Pick<Props, 'hasHistory' | 'remove'>) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={`Remove ${name}`}
        onClick={hasHistory ? open : remove}
      >
        <IconTrash size={18} stroke={1.6} />
      </ActionIcon>
      {opened && (
        <FormDialog
          title={`Remove ${name}?`}
          close={close}
          send={AT_ONCE}
          submit={remove}
          label="Remove"
          isDanger
        >
          <Text size="sm">
            When you save, its short link stops working and its clicks are deleted. To point it elsewhere,
            change its address instead: then it keeps both.
          </Text>
        </FormDialog>
      )}
    </>
  );
}
