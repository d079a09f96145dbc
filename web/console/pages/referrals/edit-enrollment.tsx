import { Alert, Button, Group, Modal, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ApiFailure, fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { usePrograms } from './filters.tsx';
import type { Enrollment } from './responses.ts';
import { METHOD_CHOICES } from './words.ts';

/** Changes a referrer's email, payout address, program and own rate. Only what was changed is sent. */
export function EditEnrollment({ enrollment, close }: { enrollment: Enrollment; close: () => void }) {
  const programs = usePrograms();
  const [email, setEmail] = useState(enrollment.email ?? '');
  const [program, setProgram] = useState(enrollment.program_id);
  const [method, setMethod] = useState(enrollment.payout_method?.method ?? '');
  const [address, setAddress] = useState('');
  const [type, setType] = useState(enrollment.commission_type ?? 'percent');
  const [rate, setRate] = useState(String(enrollment.commission_rate ?? ''));
  const save = useSend<Record<string, unknown>>(
    (body) => ({ path: `/enrollments/${enrollment.partner_id}`, method: 'PATCH', body }),
    { refresh: ['/referrals', '/enrollments', '/payouts'], done: 'Referrer saved', tellFailure: false },
  );
  const chosen = programs.find(({ id }) => id === program);
  const hadRate = enrollment.commission_rate !== null;
  const isRateChanged =
    rate.trim() !== String(enrollment.commission_rate ?? '') ||
    (hadRate && type !== enrollment.commission_type);
  const change = {
    ...(email.trim() !== (enrollment.email ?? '') && { email: email.trim() }),
    ...(program !== enrollment.program_id && { program_id: program }),
    ...(address.trim() !== '' && { payout_method: { method, email: address.trim() } }),
    ...(isRateChanged &&
      (rate.trim() === ''
        ? { commission_rate: null }
        : { commission_rate: Number(rate), commission_type: type })),
  };
  const wrong = (path: string) => {
    const message = fieldError(save.error, path);
    return message === null ? undefined : sentence(message);
  };
  const isAtField =
    save.error instanceof ApiFailure && save.error.details.some(({ path }) => FIELDS.has(path));
  return (
    <Modal opened onClose={close} title="Edit referrer" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (Object.keys(change).length === 0) close();
          else save.mutate(change, { onSuccess: close });
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="Email"
            type="email"
            value={email}
            error={wrong('email')}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <Select
            label="Program"
            description="Future signups count for the new program."
            data={programs.map(({ id, name }) => ({ value: id, label: name }))}
            value={program}
            allowDeselect={false}
            error={wrong('program_id')}
            onChange={(value) => setProgram(value ?? enrollment.program_id)}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Select
              label="Payout method"
              data={METHOD_CHOICES.filter(({ value }) => chosen?.payout_methods.some((one) => one === value))}
              value={method}
              error={wrong('payout_method.method')}
              onChange={(value) => setMethod(value ?? '')}
            />
            <TextInput
              label="New payout address"
              type="email"
              placeholder={enrollment.payout_method?.email ?? 'Email'}
              value={address}
              error={wrong('payout_method.email')}
              onChange={(event) => setAddress(event.currentTarget.value)}
            />
            <Select
              label="Own commission"
              data={[
                { value: 'percent', label: 'Percentage' },
                { value: 'flat', label: 'Fixed amount' },
              ]}
              value={type}
              allowDeselect={false}
              onChange={(value) => setType(value === 'flat' ? 'flat' : 'percent')}
            />
            <TextInput
              label="Own rate"
              description="Leave empty for the program's."
              inputMode="decimal"
              value={rate}
              error={wrong('commission_rate')}
              onChange={(event) => setRate(event.currentTarget.value)}
            />
          </SimpleGrid>
          {save.isError && !isAtField && (
            <Alert color="red" variant="outline" role="alert" title="Not saved">
              {sentenceOf(save.error)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

const FIELDS = new Set([
  'email',
  'program_id',
  'payout_method.method',
  'payout_method.email',
  'commission_rate',
]);
