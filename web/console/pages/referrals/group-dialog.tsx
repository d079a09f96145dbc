import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { PartnerGroup, Program } from './responses.ts';

const TYPES = [
  { value: 'percent', label: 'Percentage' },
  { value: 'flat', label: 'Fixed amount' },
];
const FIELDS = ['name', 'commission_rate', 'hold_days', 'min_payout'];

/** Fields as texts; empty: the program's. */
type Draft = {
  program_id: string;
  name: string;
  type: string;
  rate: string;
  days: string;
  least: string;
};

const numberOf = (text: string) => (text.trim() === '' ? null : Number(text));

/** Creates a group, or changes one. */
export function GroupDialog({
  programs,
  group,
  close,
}: {
  programs: readonly Program[];
  /** Null: a new one. */
  group: PartnerGroup | null;
  close: () => void;
}) {
  const save = useSend<object>(
    (body) =>
      group
        ? { path: `/partner-groups/${group.id}`, method: 'PATCH', body }
        : { path: '/partner-groups', body, once: true },
    {
      refresh: ['/partner-groups', '/payouts'],
      done: group ? 'Group saved' : 'Group added',
      tellFailure: false,
    },
  );
  const { draft, change, text, isDirty } = useDraft<Draft>(
    {
      program_id: group?.program_id ?? programs[0]?.id ?? '',
      name: group?.name ?? '',
      type: group?.commission_type ?? 'percent',
      rate: String(group?.commission_rate ?? ''),
      days: String(group?.hold_days ?? ''),
      least: String(group?.min_payout ?? ''),
    },
    save.error,
  );
  const program = programs.find(({ id }) => id === draft.program_id);
  const rate = numberOf(draft.rate);
  const body = {
    ...(group === null && { program_id: draft.program_id }),
    name: draft.name.trim(),
    commission_type: rate === null ? null : draft.type,
    commission_rate: rate,
    hold_days: numberOf(draft.days),
    min_payout: numberOf(draft.least),
  };
  const currency = program?.currency.toUpperCase() ?? '';
  return (
    <FormDialog
      title={group ? `Edit the group ${group.name}` : 'Add a group'}
      close={close}
      isDirty={isDirty}
      send={save}
      submit={() => save.mutate(body, { onSuccess: close })}
      label={group ? 'Save' : 'Add'}
      failed={group ? 'Not saved' : 'Not added'}
      fields={FIELDS}
      isReady={body.name !== ''}
    >
      {group === null && programs.length > 1 && (
        <NativeSelect
          label="Program"
          data={programs.map(({ id, name }) => ({ value: id, label: name }))}
          value={draft.program_id}
          onChange={(event) => change({ program_id: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Name"
        description="Such as “Newsletters”. Only you see it."
        required
        maxLength={100}
        {...text('name', 'name', 'The name')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <NativeSelect
          label="Commission"
          data={TYPES}
          value={draft.type}
          onChange={(event) => change({ type: event.currentTarget.value })}
        />
        <TextInput
          label={draft.type === 'flat' ? `Amount for each sale, ${currency}` : 'Percent of each sale'}
          inputMode="decimal"
          placeholder={program?.commission_type === draft.type ? String(program.commission_rate) : ''}
          {...text('rate', 'commission_rate', 'The rate')}
        />
        <TextInput
          label="Hold period in days"
          inputMode="numeric"
          placeholder={String(program?.hold_days ?? '')}
          {...text('days', 'hold_days', 'The hold period')}
        />
        <TextInput
          label={`Minimum payout, ${currency}`}
          inputMode="decimal"
          placeholder={String(program?.min_payout ?? '')}
          {...text('least', 'min_payout', 'The minimum payout')}
        />
      </SimpleGrid>
      <SmallNote>
        An empty field has the program's value, which is shown in gray. New terms are for future sales: what
        was earned stays. A referrer's own rate comes first.
      </SmallNote>
    </FormDialog>
  );
}
