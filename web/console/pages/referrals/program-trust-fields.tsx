import { Checkbox, Fieldset, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
import type { Draft } from './program-draft.ts';

const REVIEWS: { value: Draft['review']; label: string }[] = [
  { value: 'none', label: 'Nothing' },
  { value: 'signups', label: 'Every signup' },
  { value: 'rewards', label: 'Rewards of every signup' },
];

/** Who reports signups, limits, and reviews. */
export function TrustFields(form: Form<Draft>) {
  const { draft, change } = form;
  const { text, check, choice } = fieldsOf(form);
  return (
    <Fieldset legend="Abuse">
      <Stack gap="sm">
        <Checkbox
          label="Only your server reports signups"
          description="Signups that a page reports with the publishable key are refused."
          checked={draft.signups_from === 'server'}
          onChange={(event) => change({ signups_from: event.currentTarget.checked ? 'server' : 'any' })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <TextInput
            label="Signups per referrer and day"
            description="Leave empty for no limit. More are blocked."
            inputMode="numeric"
            {...text('max_signups_per_day')}
          />
          <Select
            label="Hold for review"
            description="A held signup earns nothing until you approve it."
            data={REVIEWS}
            allowDeselect={false}
            {...choice('review')}
          />
        </SimpleGrid>
        {draft.credit_enabled && (
          <Checkbox
            label="Revoke credits when an order is refunded"
            description="Only credits that are not delivered, and only for a full refund."
            {...check('revoke_credits_on_refund')}
          />
        )}
      </Stack>
    </Fieldset>
  );
}
