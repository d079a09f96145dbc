import { Checkbox, Fieldset, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import type { Draft } from './program-draft.ts';
import { wrongWith } from './program-problems.ts';

type Props = { draft: Draft; error: unknown; change: (part: Partial<Draft>) => void };

const REVIEWS: { value: Draft['review']; label: string }[] = [
  { value: 'none', label: 'Nothing' },
  { value: 'signups', label: 'Every signup' },
  { value: 'rewards', label: 'Rewards of every signup' },
];

/** Who reports signups, limits, and reviews. */
export function TrustFields({ draft, error, change }: Props) {
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
            value={draft.max_signups_per_day}
            error={wrongWith(error, 'max_signups_per_day')}
            onChange={(event) => change({ max_signups_per_day: event.currentTarget.value })}
          />
          <Select
            label="Hold for review"
            description="A held signup earns nothing until you approve it."
            data={REVIEWS}
            value={draft.review}
            allowDeselect={false}
            onChange={(value) =>
              change({ review: REVIEWS.find((one) => one.value === value)?.value ?? 'none' })
            }
          />
        </SimpleGrid>
        {draft.credit_enabled && (
          <Checkbox
            label="Revoke credits when an order is refunded"
            description="Only credits that are not delivered, and only for a full refund."
            checked={draft.revoke_credits_on_refund}
            onChange={(event) => change({ revoke_credits_on_refund: event.currentTarget.checked })}
          />
        )}
      </Stack>
    </Fieldset>
  );
}
