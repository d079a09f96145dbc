import { Checkbox, Group, MultiSelect, Radio, Stack, Text, TextInput } from '@mantine/core';
import { CHANNELS } from '../../../../core/enrich/channels.ts';
import { CLICK_EVENT } from '../../../../core/webhooks/event-types.ts';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { fieldSentence } from '../../api/sentence.ts';
import { channelName } from '../../formats.ts';
import { FormSection } from '../../parts/form-section.tsx';
import { LinksField } from '../../parts/links-field.tsx';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
import type { Webhook } from './responses.ts';
import type { WebhookDraft } from './webhook-fields.tsx';

/** The lists of a filter: the API's names, and those of the draft. */
export const FILTERS = [
  ['link_ids', 'links'],
  ['folder_ids', 'folders'],
  ['program_ids', 'programs'],
  ['channels', 'channels'],
] as const;

/** Values of one list, at most. */
const MOST = 100;

const FORMATS: { value: WebhookDraft['format']; label: string; description: string }[] = [
  { value: 'json', label: 'Events as JSON', description: 'Signed, for a program.' },
  { value: 'slack', label: 'Messages for Slack', description: 'The address is that of an incoming webhook.' },
  { value: 'discord', label: 'Messages for Discord', description: 'The address is that of a webhook.' },
  {
    value: 'get',
    label: 'Calls of the address',
    description:
      'An unsigned GET, for postbacks of affiliate networks. Placeholders are fields of the event: {order_id}, {amount}.',
  },
];

/** Returns the filter of a draft, or null where nothing is chosen. */
export function filterOf(draft: Pick<WebhookDraft, (typeof FILTERS)[number][1]>): Webhook['filter'] {
  const lists = FILTERS.flatMap(([name, field]) =>
    draft[field].length > 0 ? [[name, draft[field].toSorted()]] : [],
  );
  return lists.length > 0 ? Object.fromEntries(lists) : null;
}

/** `2 links, 1 folder, Newsletter`; null without a filter. */
export function filterWords(filter: Webhook['filter']): string | null {
  if (filter === null) return null;
  const { link_ids, folder_ids, program_ids, channels } = filter;
  return [
    link_ids && count(link_ids.length, 'link'),
    folder_ids && count(folder_ids.length, 'folder'),
    program_ids && count(program_ids.length, 'program'),
    channels?.map(channelName).join(' or '),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

type Props = { form: Form<WebhookDraft> };

/** Chooses the form of what is sent. */
export function FormatField({ form: { draft, change, error } }: Props) {
  return (
    <FormSection
      title="Format"
      set={FORMATS.find(({ value }) => value === draft.format && value !== 'json')?.label ?? null}
      hint="JSON, messages for Slack or Discord, or calls of the address"
      isWrong={fieldSentence(error, 'format') !== null}
    >
      <Radio.Group
        label="What it gets"
        value={draft.format}
        error={fieldSentence(error, 'format')}
        onChange={(format) => change({ format: format as WebhookDraft['format'] })}
      >
        <Stack gap="sm" mt="xs">
          {FORMATS.map((format) => (
            <Radio key={format.value} {...format} />
          ))}
        </Stack>
      </Radio.Group>
    </FormSection>
  );
}

/** Chooses which events are sent, by what they are about. */
export function FilterFields({ form: { draft, change, error } }: Props) {
  const programs = useApi<ResponseOf<'/programs'>>('/programs');
  const { links, folders } = draft;
  const wrong = (path: string) => fieldSentence(error, `filter.${path}`);
  return (
    <FormSection
      title="Filter"
      set={filterWords(filterOf(draft))}
      hint="Only events of some links, folders, channels, or programs"
      isWrong={FILTERS.some(([name]) => wrong(name) !== null)}
    >
      <Stack gap="md">
        <Text size="sm">
          All empty: every event. With several, an event must match each. An event that names no such thing is
          left out: a sale names no link.
        </Text>
        <LinksField
          type="links"
          values={links}
          choose={(chosen) => change({ links: chosen })}
          maxValues={MOST}
          error={wrong('link_ids')}
        />
        <LinksField
          type="folder"
          values={folders}
          choose={(chosen) => change({ folders: chosen })}
          maxValues={MOST}
          error={wrong('folder_ids')}
        />
        <MultiSelect
          label="Channels"
          data={CHANNELS.map((channel) => ({ value: channel, label: channelName(channel) }))}
          value={draft.channels}
          error={wrong('channels')}
          onChange={(channels) => change({ channels })}
          searchable
          nothingFoundMessage="Nothing found"
        />
        <MultiSelect
          label="Programs"
          data={(programs.data?.programs ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.programs}
          error={wrong('program_ids')}
          onChange={(chosen) => change({ programs: chosen })}
          maxValues={MOST}
          searchable
          nothingFoundMessage="Nothing found"
        />
      </Stack>
    </FormSection>
  );
}

/** Whether clicks may come together: there are some, and each does not stand in an address. */
export const canBatch = ({ events, format }: Pick<WebhookDraft, 'events' | 'format'>): boolean =>
  events.includes(CLICK_EVENT) && format !== 'get';

/** Chooses whether clicks come together. */
export function BatchFields({ form }: Props) {
  const { draft } = form;
  const { text, check } = fieldsOf(form);
  if (!canBatch(draft)) return null;
  return (
    <Stack gap="sm">
      <Checkbox
        label="Send clicks together"
        description="One message for many clicks, instead of one for each."
        {...check('isBatched')}
      />
      {draft.isBatched && (
        <Group grow align="flex-start">
          <TextInput
            label="Clicks, at most"
            description="From 2 to 1,000."
            inputMode="numeric"
            autoComplete="off"
            required
            {...text('max', 'batch.max')}
          />
          <TextInput
            label="Seconds, at most"
            description="From 1 to 60."
            inputMode="numeric"
            autoComplete="off"
            required
            {...text('seconds', 'batch.seconds')}
          />
        </Group>
      )}
    </Stack>
  );
}
