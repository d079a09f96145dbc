import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { METHOD_CHOICES } from '../../../../core/referrals/payout-method-names.ts';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useGroups, usePrograms } from './filters.tsx';
import type { Enrollment } from './responses.ts';

/** Paths of the fields that show the API's errors. */
const FIELDS = [
  'email',
  'program_id',
  'payout_method.method',
  'payout_method.email',
  'payout_name',
  'commission_rate',
  'group_id',
];

const draftOf = (enrollment: Enrollment) => ({
  email: enrollment.email ?? '',
  program_id: enrollment.program_id,
  /** Empty: none. */
  group: enrollment.group_id ?? '',
  method: enrollment.payout_method?.method ?? '',
  /** A new payout address. */
  address: '',
  payout_name: enrollment.payout_name ?? '',
  type: enrollment.commission_type ?? 'percent',
  rate: String(enrollment.commission_rate ?? ''),
});
type Draft = ReturnType<typeof draftOf>;

/** The body of the change: only what was changed. */
function changeBody(before: Draft, draft: Draft) {
  const { email, program_id, group, method, address, payout_name, type, rate } = draft;
  const isRateChanged = rate.trim() !== before.rate || (before.rate !== '' && type !== before.type);
  return {
    ...(email.trim() !== before.email && { email: email.trim() }),
    ...(program_id !== before.program_id && { program_id }),
    ...(group !== before.group && { group_id: group || null }),
    ...(address.trim() !== '' && { payout_method: { method, email: address.trim() } }),
    ...(payout_name.trim() !== before.payout_name && { payout_name: payout_name.trim() || null }),
    ...(isRateChanged &&
      (rate.trim() === ''
        ? { commission_rate: null }
        : { commission_rate: Number(rate), commission_type: type })),
  };
}

/** Changes a referrer's email, payout address, program, group and own rate. */
export function EditEnrollment({ enrollment, close }: { enrollment: Enrollment; close: () => void }) {
  const programs = usePrograms();
  const save = useSend<Record<string, unknown>>(
    (body) => ({ path: `/enrollments/${enrollment.partner_id}`, method: 'PATCH', body }),
    { refresh: ['/referrals', '/enrollments', '/payouts'], done: 'Referrer saved', tellFailure: false },
  );
  const { before, draft, change, text, choice } = useDraft(() => draftOf(enrollment), save.error);
  const chosen = programs.find(({ id }) => id === draft.program_id);
  const groups = useGroups().filter(({ program_id }) => program_id === draft.program_id);
  const submit = () => {
    const changed = changeBody(before, draft);
    if (Object.keys(changed).length === 0) close();
    else save.mutate(changed, { onSuccess: close });
  };
  return (
    <FormDialog
      title="Edit referrer"
      close={close}
      send={save}
      submit={submit}
      label="Save"
      failed="Not saved"
      fields={FIELDS}
    >
      <TextInput label="Email" type="email" {...text('email')} />
      <Select
        label="Program"
        description="Future signups count for the new program."
        data={programs.map(({ id, name }) => ({ value: id, label: name }))}
        allowDeselect={false}
        {...choice('program_id')}
        // A group is of one program.
        onChange={(program) =>
          change({
            program_id: program ?? draft.program_id,
            group: program === before.program_id ? before.group : '',
          })
        }
      />
      {groups.length > 0 && (
        <Select
          label="Group"
          description="Its terms are for future sales."
          data={[{ value: '', label: 'None' }, ...groups.map(({ id, name }) => ({ value: id, label: name }))]}
          allowDeselect={false}
          {...choice('group', 'group_id')}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Payout method"
          data={METHOD_CHOICES.filter(({ value }) => chosen?.payout_methods.some((one) => one === value))}
          {...choice('method', 'payout_method.method')}
        />
        <TextInput
          label="New payout address"
          type="email"
          placeholder={enrollment.payout_method?.email ?? 'Email'}
          {...text('address', 'payout_method.email')}
        />
      </SimpleGrid>
      <TextInput
        label="Payout name"
        description="Full name of the account's owner, which Wise needs. Leave empty for the referrer's name."
        placeholder={enrollment.name ?? ''}
        maxLength={200}
        {...text('payout_name')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Own commission"
          data={[
            { value: 'percent', label: 'Percentage' },
            { value: 'flat', label: 'Fixed amount' },
          ]}
          allowDeselect={false}
          {...choice('type', 'commission_type')}
        />
        <TextInput
          label="Own rate"
          description="Leave empty for that of the group or program."
          inputMode="decimal"
          {...text('rate', 'commission_rate')}
        />
      </SimpleGrid>
    </FormDialog>
  );
}
