import { Checkbox, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { viewerTimeZone } from '../../formats.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { RecipientFields } from './recipient-fields.tsx';
import {
  bodyOf,
  draftOf,
  firstRecipient,
  HOURS,
  hasRecipients,
  type Report,
  type ReportDraft,
  WEEKDAYS,
} from './report-draft.ts';
import { ViewField } from './view-field.tsx';

const PERIODS = [
  { value: 'day', label: 'Each day' },
  { value: 'week', label: 'Each week' },
  { value: 'month', label: 'Each month' },
];
const WEEKDAY_CHOICES = WEEKDAYS.map((label, n) => ({ value: String(n + 1), label }));
const DAY_CHOICES = Array.from({ length: 31 }, (_, n) => String(n + 1));

type Props = {
  /** Null: a new one. */
  report: Report | null;
  /** The view of a new one. */
  view?: { id: string; name: string } | undefined;
  close: () => void;
};

/** Makes a report of a saved view, or changes one. */
export function ReportDialog({ report, view: given, close }: Props) {
  const { member, sends_mail: sendsMail } = useSession();
  const save = useSend<object>(
    (body) =>
      report
        ? { path: `/reports/${report.id}`, method: 'PATCH', body }
        : { path: '/reports', body, once: true },
    { refresh: ['/reports'], tellFailure: false, done: report ? 'Report saved' : 'Report created' },
  );
  const { draft, form, change, text, check, choice, isDirty } = useDraft(
    () =>
      draftOf(report, {
        view: given?.id ?? '',
        name: given?.name ?? '',
        zone: viewerTimeZone(),
        recipient: firstRecipient(sendsMail, member.email),
      }),
    save.error,
  );
  const { onChange: choose, ...view } = choice('view', 'saved_view_id');
  const native = (name: 'every' | 'weekday' | 'day' | 'hour' | 'time_zone', path: string) => {
    const { onChange, ...rest } = choice(name, path);
    return {
      ...rest,
      onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
    };
  };
  const zones = [...new Set([draft.time_zone, viewerTimeZone(), ...Intl.supportedValuesOf('timeZone')])];
  return (
    <FormDialog
      title={report ? 'Edit the report' : 'New report'}
      close={close}
      isLong
      isDirty={isDirty}
      send={save}
      submit={() => save.mutate(bodyOf(draft, report), { onSuccess: close })}
      label={report ? 'Save' : 'Create'}
      failed="Not saved"
      fields={[
        'name',
        'saved_view_id',
        'schedule.time_zone',
        ...draft.recipients.flatMap((_, n) => [`recipients.${n}.address`, `recipients.${n}.type`]),
      ]}
      isReady={isReady(draft)}
    >
      <TextInput
        label="Name"
        description="The subject of its mails."
        data-autofocus
        required
        maxLength={100}
        {...text('name', 'name', 'Name')}
      />
      <ViewField
        of={report}
        about="What it shows. A change of the view changes the report."
        {...view}
        choose={choose}
      />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NativeSelect label="How often" data={PERIODS} {...native('every', 'schedule.every')} />
        {draft.every === 'week' && (
          <NativeSelect label="Day" data={WEEKDAY_CHOICES} {...native('weekday', 'schedule.weekday')} />
        )}
        {draft.every === 'month' && (
          <NativeSelect label="Day" data={DAY_CHOICES} {...native('day', 'schedule.day')} />
        )}
        <NativeSelect label="Hour" data={HOURS} {...native('hour', 'schedule.hour')} />
      </SimpleGrid>
      <NativeSelect label="Time zone" data={zones} {...native('time_zone', 'schedule.time_zone')} />
      <RecipientFields
        rows={draft.recipients}
        error={form.error}
        change={(recipients) => change({ recipients })}
      />
      <Checkbox label="Show revenue" {...check('show_revenue')} />
    </FormDialog>
  );
}

const isReady = ({ name, recipients }: ReportDraft) => name.trim() !== '' && hasRecipients(recipients);
