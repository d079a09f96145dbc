import { Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { RULES_LIMIT } from '../../../../../core/links/rules/types.ts';
import { plural } from '../../../formats.ts';
import { Note } from '../../../parts/note.tsx';
import { useFocusAdded } from '../../../parts/use-focus-added.ts';
import type { FormFields, LinkFormSection } from '../form/fields.ts';
import { RuleCard } from './rule-card.tsx';
import { newRule, type RuleDraft } from './rule-drafts.ts';
import { TryIt } from './try-it.tsx';
import { moved, useReorder } from './use-reorder.ts';

function RuleFields({ draft, set, wrong }: FormFields) {
  const { rules } = draft;
  const [said, setSaid] = useState('');
  const change = (changed: RuleDraft[]) => set('rules', changed);
  const move = (from: number, to: number) => {
    change(moved(rules, from, to));
    setSaid(`Rule ${from + 1} is now rule ${to + 1} of ${rules.length}`);
  };
  const order = useReorder(
    rules.map(({ key }) => key),
    move,
  );
  const { list, adding } = useFocusAdded<HTMLOListElement>(rules.length);
  const isOfRule = rules.some((_, nth) => wrong(`rules.${nth}`) !== null);
  return (
    <Stack gap="sm">
      <Note>
        The first rule whose conditions all hold decides where a visitor goes. Without one, devices, the
        split, and then the destination do.
      </Note>
      {!isOfRule && wrong('rules') !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          Rules {wrong('rules')}
        </Text>
      )}
      {rules.length > 0 && (
        <ol className="rule-list" aria-label="Rules" ref={list}>
          {rules.map((rule, index) => (
            <RuleCard
              key={rule.key}
              rule={rule}
              index={index}
              count={rules.length}
              wrong={wrong}
              onChange={(changed) => change(rules.with(index, changed))}
              onMove={(to) => move(index, to)}
              onRemove={() => change(rules.toSpliced(index, 1))}
              handle={order.handle(rule.key)}
              isDragged={order.dragged === rule.key}
              ref={order.item(rule.key)}
            />
          ))}
        </ol>
      )}
      <VisuallyHidden role="status">{said}</VisuallyHidden>
      <Group>
        <Button
          variant="default"
          size="sm"
          leftSection={<IconPlus size={16} />}
          disabled={rules.length >= RULES_LIMIT}
          onClick={() => {
            adding();
            change([...rules, newRule()]);
          }}
        >
          Add a rule
        </Button>
      </Group>
      <TryIt draft={draft} />
    </Stack>
  );
}

/** Other destinations by country, language, time and more. */
export const RULES: LinkFormSection = {
  title: 'Rules',
  hint: 'Other destinations by country, language, time, and more',
  paths: /^rules(\.|$)/,
  words: ({ rules }) => (rules.length === 0 ? null : plural(rules.length, 'rule', 'rules')),
  Fields: RuleFields,
};
