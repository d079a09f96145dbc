import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { METRICS, type Metric } from '../../../../core/analytics/dimensions.ts';
import { METRIC_NAMES } from '../../../../core/analytics/metric-names.ts';
import { useSend } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { type Alert, type AlertDraft, alertBodyOf, alertDraftOf, CONDITION_NAMES } from './alert-draft.ts';
import { RecipientFields } from './recipient-fields.tsx';
import { firstRecipient, hasRecipients } from './report-draft.ts';
import { ViewField } from './view-field.tsx';

const TYPES = (Object.keys(CONDITION_NAMES) as AlertDraft['type'][]).map((value) => ({
  value,
  label: CONDITION_NAMES[value],
}));
const COUNTED: readonly Metric[] = ['clicks', 'visitors', 'leads', 'conversions'];

/** Makes an alert on a saved view, or changes one. */
export function AlertDialog({ alert, close }: { alert: Alert | null; close: () => void }) {
  const { member, sends_mail: sendsMail } = useSession();
  const save = useSend<object>(
    (body) =>
      alert ? { path: `/alerts/${alert.id}`, method: 'PATCH', body } : { path: '/alerts', body, once: true },
    { refresh: ['/alerts'], tellFailure: false, done: alert ? 'Alert saved' : 'Alert created' },
  );
  const { draft, form, change, text, isDirty } = useDraft(
    () => alertDraftOf(alert, firstRecipient(sendsMail, member.email)),
    save.error,
  );
  const metrics = draft.type === 'change' || draft.type === 'none' ? COUNTED : METRICS;
  return (
    <FormDialog
      title={alert ? 'Edit the alert' : 'New alert'}
      close={close}
      isLong
      isDirty={isDirty}
      send={save}
      submit={() => save.mutate(alertBodyOf(draft, alert), { onSuccess: close })}
      label={alert ? 'Save' : 'Create'}
      failed="Not saved"
      fields={[
        'name',
        'condition.value',
        'condition.percent',
        'condition.window_hours',
        ...draft.recipients.flatMap((_, n) => [`recipients.${n}.address`, `recipients.${n}.type`]),
      ]}
      isReady={draft.name.trim() !== '' && hasRecipients(draft.recipients)}
    >
      <TextInput label="Name" data-autofocus required maxLength={100} {...text('name', 'name', 'Name')} />
      <ViewField
        of={alert}
        about="What it watches. The filters of the view count, its period does not."
        value={draft.view}
        choose={(view) => change({ view })}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <NativeSelect
          label="Condition"
          data={TYPES}
          value={draft.type}
          onChange={(event) => {
            const type = event.currentTarget.value as AlertDraft['type'];
            const isCounted = type === 'over' || type === 'under' || COUNTED.includes(draft.metric);
            change({ type, ...(!isCounted && { metric: 'clicks' as const }) });
          }}
        />
        <NativeSelect
          label="Figure"
          data={metrics.map((value) => ({ value, label: METRIC_NAMES[value] }))}
          value={draft.metric}
          onChange={(event) => change({ metric: event.currentTarget.value as Metric })}
        />
        {draft.type === 'change' && (
          <TextInput
            label="Percent"
            description="Of the same hours of four weeks."
            inputMode="numeric"
            {...text('percent', 'condition.percent', 'Percent')}
          />
        )}
        {(draft.type === 'over' || draft.type === 'under') && (
          <TextInput label="Value" inputMode="decimal" {...text('value', 'condition.value', 'Value')} />
        )}
        <TextInput
          label="Hours"
          description="How many of the last whole hours."
          inputMode="numeric"
          {...text('hours', 'condition.window_hours', 'Hours')}
        />
      </SimpleGrid>
      <RecipientFields
        rows={draft.recipients}
        error={form.error}
        change={(recipients) => change({ recipients })}
      />
    </FormDialog>
  );
}
