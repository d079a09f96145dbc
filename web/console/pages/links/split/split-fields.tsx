import { ActionIcon, Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { SPLIT_GOALS, VARIANTS } from '../../../../../core/links/rules/types.ts';
import { formatPercent, viewerTimeZone } from '../../../formats.ts';
import { Note } from '../../../parts/note.tsx';
import { useFocusAdded } from '../../../parts/use-focus-added.ts';
import type { FormFields, LinkFormSection } from '../form/fields.ts';
import { NO_SPLIT, newVariant, type SplitDraft, type VariantDraft } from './split-drafts.ts';

const EVEN = 50;

function SplitFields({ draft, set, wrong }: FormFields) {
  const { split } = draft;
  const { variants } = split;
  const change = (fields: Partial<SplitDraft>) => set('split', { ...split, ...fields });
  const changeVariant = (nth: number, fields: Partial<VariantDraft>) =>
    change({ variants: variants.map((variant, at) => (at === nth ? { ...variant, ...fields } : variant)) });
  const sum = variants.reduce((total, { weight }) => total + weightOf(weight), 0);
  const { list, adding } = useFocusAdded<HTMLOListElement>(variants.length);
  const isOfVariant = variants.some((_, nth) => wrong(`split.${nth}`) !== null);
  return (
    <Stack gap="sm">
      <Note>
        Where no rule and no device decides, visitors are shared out to two to four destinations. A visitor
        keeps theirs.
      </Note>
      {!isOfVariant && wrong('split') !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          The split {wrong('split')}
        </Text>
      )}
      {variants.length === 0 ? (
        <Group>
          <Button
            variant="default"
            leftSection={<IconPlus size={16} />}
            onClick={() => {
              const first = { ...newVariant(EVEN), destination_url: draft.destination_url };
              adding();
              change({ variants: [first, newVariant(EVEN)] });
            }}
          >
            Split the visitors
          </Button>
        </Group>
      ) : (
        <>
          <ol className="rule-list" aria-label="Variants" ref={list}>
            {variants.map((variant, nth) => (
              <VariantFields
                key={variant.key}
                variant={variant}
                nth={nth}
                sum={sum}
                wrong={wrong}
                onChange={(fields) => changeVariant(nth, fields)}
                // A split has at least two destinations.
                onRemove={() =>
                  change(
                    variants.length <= VARIANTS.least
                      ? NO_SPLIT
                      : { variants: variants.filter((_, at) => at !== nth) },
                  )
                }
              />
            ))}
          </ol>
          <ShareBar variants={variants} />
          <Group justify="space-between">
            <Button
              variant="subtle"
              size="compact-sm"
              leftSection={<IconPlus size={14} />}
              disabled={variants.length >= VARIANTS.most}
              onClick={() => {
                const average = Math.max(1, Math.round(sum / variants.length));
                adding();
                change({ variants: [...variants, newVariant(average)] });
              }}
            >
              Add a destination
            </Button>
            <Text size="sm" c="dimmed" role="status" aria-label="Sum of the weights">
              The weights sum to {sum}
            </Text>
          </Group>
          <EndFields split={split} change={change} wrong={wrong} />
        </>
      )}
    </Stack>
  );
}

function VariantFields({
  variant,
  nth,
  sum,
  wrong,
  onChange,
  onRemove,
}: {
  variant: VariantDraft;
  nth: number;
  sum: number;
  wrong: FormFields['wrong'];
  onChange: (fields: Partial<VariantDraft>) => void;
  onRemove: () => void;
}) {
  const name = `destination ${nth + 1}`;
  return (
    <li className="split-variant">
      <TextInput
        label={`Destination ${nth + 1}`}
        spellCheck={false}
        inputMode="url"
        value={variant.destination_url}
        error={wrong(`split.${nth}.destination_url`)}
        onChange={(event) => onChange({ destination_url: event.currentTarget.value })}
      />
      <TextInput
        label="Weight"
        aria-label={`Weight of ${name}`}
        inputMode="numeric"
        maxLength={3}
        value={variant.weight}
        error={wrong(`split.${nth}.weight`)}
        onChange={(event) => onChange({ weight: event.currentTarget.value })}
      />
      <Text className="split-share" size="sm">
        {sum === 0 ? '–' : formatPercent(weightOf(variant.weight) / sum)}
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        className="split-remove"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        <IconTrash size={16} />
      </ActionIcon>
    </li>
  );
}

function EndFields({
  split,
  change,
  wrong,
}: {
  split: SplitDraft;
  change: (fields: Partial<SplitDraft>) => void;
  wrong: FormFields['wrong'];
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <TextInput
        type="datetime-local"
        // Without a step, a browser refuses a time with seconds.
        {...(split.ends_at.length > 16 && { step: 1 })}
        label="Ends"
        description={`Then the best one gets all visitors. In your time zone, ${viewerTimeZone()}.`}
        value={split.ends_at}
        error={wrong('split_ends_at')}
        onChange={(event) => change({ ends_at: event.currentTarget.value })}
      />
      <NativeSelect
        label="Goal"
        description="The best one has the most of it for each click."
        data={[
          { value: '', label: 'None' },
          ...SPLIT_GOALS.map((value) => ({ value, label: GOAL_NAMES[value] })),
        ]}
        value={split.goal}
        error={wrong('split_goal')}
        onChange={({ currentTarget: { value } }) =>
          change({ goal: SPLIT_GOALS.find((known) => known === value) ?? '' })
        }
      />
    </SimpleGrid>
  );
}

const GOAL_NAMES = { leads: 'Leads', conversions: 'Conversions', revenue: 'Revenue' };

const weightOf = (text: string) => (/^\d+$/.test(text.trim()) ? Number(text) : 0);

/** The shares as parts of one bar. */
function ShareBar({ variants }: { variants: readonly VariantDraft[] }) {
  return (
    <div className="split-bar" aria-hidden="true">
      {variants.map(({ key, weight }) => (
        <span key={key} style={{ flexGrow: weightOf(weight) }} />
      ))}
    </div>
  );
}

/** Destinations by weight, with an end. */
export const SPLIT: LinkFormSection = {
  title: 'Split test',
  hint: 'Share the visitors out, and find the best destination',
  paths: /^split(\.|_ends_at$|_goal$|$)/,
  words({ split: { variants, winner, ends_at } }) {
    if (variants.length === 0) return null;
    const weights = variants.map(({ weight }) => weight).join(' : ');
    if (winner !== null) return `${weights}, decided`;
    return ends_at === '' ? weights : `${weights}, with an end`;
  },
  Fields: SplitFields,
};
