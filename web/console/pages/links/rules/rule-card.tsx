import { ActionIcon, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconChevronDown,
  IconChevronRight,
  IconGripVertical,
  IconPlus,
  IconTrash,
} from '@tabler/icons-react';
import { type Ref, useState } from 'react';
import { Note } from '../../../parts/note.tsx';
import { ConditionFields } from './condition-fields.tsx';
import { ruleWords } from './condition-words.ts';
import { newCondition, type RuleDraft } from './rule-drafts.ts';
import type { useReorder } from './use-reorder.ts';

type Props = {
  rule: RuleDraft;
  index: number;
  count: number;
  wrong: (path: string) => string | null;
  onChange: (rule: RuleDraft) => void;
  onMove: (to: number) => void;
  onRemove: () => void;
  handle: ReturnType<ReturnType<typeof useReorder>['handle']>;
  isDragged: boolean;
  ref: Ref<HTMLLIElement>;
};

/** A rule: in words, and its fields once opened. */
export function RuleCard(props: Props) {
  const { rule, index, count, wrong, onMove, onRemove, handle, isDragged, ref } = props;
  const path = `rules.${index}`;
  const title = `rule ${index + 1}`;
  const isNew = rule.id === undefined;
  const [opened, setOpened] = useState(isNew);
  const isWrong = wrong(path) !== null;
  const isOpen = opened || isWrong;
  return (
    <Paper
      component="li"
      withBorder
      className="rule-card"
      data-dragged={isDragged || undefined}
      ref={ref}
      aria-label={`Rule ${index + 1} of ${count}`}
    >
      <Group className="rule-head" gap={4} align="flex-start">
        <ActionIcon
          variant="subtle"
          color="gray"
          className="rule-handle"
          aria-label={`Move ${title}: drag, or press the arrow keys`}
          {...handle}
        >
          <IconGripVertical size={18} />
        </ActionIcon>
        <button
          type="button"
          className="rule-words"
          aria-expanded={isOpen}
          onClick={() => setOpened(!isOpen)}
        >
          {isOpen ? (
            <IconChevronDown size={16} className="rule-mark" />
          ) : (
            <IconChevronRight size={16} className="rule-mark" />
          )}
          <span>
            <Text span size="sm" fw={600}>
              {index + 1}. {rule.name || ruleWords(rule)}
            </Text>
            {rule.name && (
              <Text span size="sm" display="block">
                {ruleWords(rule)}
              </Text>
            )}
            <Note span display="block" className="rule-leads">
              → {rule.destination_url || 'no destination yet'}
            </Note>
          </span>
        </button>
        <Group gap={0} wrap="nowrap" ml="auto">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Move ${title} up`}
            disabled={index === 0}
            onClick={() => onMove(index - 1)}
          >
            <IconArrowUp size={16} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Move ${title} down`}
            disabled={index === count - 1}
            onClick={() => onMove(index + 1)}
          >
            <IconArrowDown size={16} />
          </ActionIcon>
          <ActionIcon variant="subtle" color="gray" aria-label={`Remove ${title}`} onClick={onRemove}>
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      </Group>
      {isOpen && <RuleFields {...props} path={path} title={title} />}
    </Paper>
  );
}

function RuleFields({ rule, wrong, onChange, path, title }: Props & { path: string; title: string }) {
  const { conditions } = rule;
  const set = (fields: Partial<RuleDraft>) => onChange({ ...rule, ...fields });
  return (
    <Stack gap="sm" mt="xs" pl={{ base: 0, xs: 34 }}>
      {conditions.map((condition, nth) => (
        <div key={condition.key}>
          <Note mb={4}>{nth === 0 ? 'If' : 'and'}</Note>
          <ConditionFields
            condition={condition}
            label={`Condition ${nth + 1} of ${title}`}
            path={`${path}.conditions.${nth}`}
            wrong={wrong}
            onChange={(changed) => set({ conditions: conditions.with(nth, changed) })}
            onRemove={
              conditions.length === 1 ? null : () => set({ conditions: conditions.toSpliced(nth, 1) })
            }
          />
        </div>
      ))}
      <Group>
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={() => set({ conditions: [...conditions, newCondition()] })}
        >
          Add a condition
        </Button>
      </Group>
      <TextInput
        label="Destination"
        description="On a rule with a system also an app's address, such as myapp://product/17."
        aria-label={`Destination of ${title}`}
        spellCheck={false}
        inputMode="url"
        value={rule.destination_url}
        error={wrong(`${path}.destination_url`)}
        onChange={(event) => set({ destination_url: event.currentTarget.value })}
      />
      <TextInput
        label="Name"
        description="Shown in reports. Leave empty to show the conditions."
        aria-label={`Name of ${title}`}
        maxLength={200}
        value={rule.name}
        error={wrong(`${path}.name`)}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
    </Stack>
  );
}
