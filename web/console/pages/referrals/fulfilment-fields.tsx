import { Checkbox, PasswordInput, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { fieldError } from '../../api/failures.ts';
import { sentence } from '../../api/sentence.ts';
import { AddressField } from '../../parts/address-field.tsx';
import type { FulfilmentDraft } from './fulfilment-draft.ts';
import type { Fulfilment } from './responses.ts';

/** Paths of the fields that show the API's errors. */
export const FULFILMENT_FIELDS = [
  'settings.url',
  'settings.restricted_key',
  'settings.currency',
  'settings.credit_value',
];

/** The fields of a fulfilment. The provider of an existing one does not change. */
export function FulfilmentFields({
  draft,
  existing,
  error,
  change,
}: {
  draft: FulfilmentDraft;
  existing: Fulfilment | null;
  error: unknown;
  change: (part: Partial<FulfilmentDraft>) => void;
}) {
  const wrong = (path: string) => {
    const message = fieldError(error, path);
    return message && sentence(message);
  };
  return (
    <>
      {!existing && (
        <Radio.Group
          label="How a credit reaches the user"
          value={draft.provider}
          onChange={(value) => change({ provider: value === 'webhook' ? 'webhook' : 'stripe_balance' })}
        >
          <Stack gap="xs" mt="xs">
            <Radio
              value="webhook"
              label="A call to your server"
              description="Your server gives the credit and responds with a status from 200 to 299."
            />
            <Radio
              value="stripe_balance"
              label="Stripe customer balance"
              description="Reduces the user's next Stripe invoice."
            />
          </Stack>
        </Radio.Group>
      )}
      {draft.provider === 'webhook' ? (
        <AddressField
          label="Address"
          description="Where your server receives the calls."
          placeholder="https://you.example/credits"
          required
          maxLength={2_048}
          value={draft.url}
          error={wrong('settings.url')}
          onChange={(address) => change({ url: address })}
        />
      ) : (
        <>
          <PasswordInput
            label="Restricted key of Stripe"
            description={
              existing?.settings.restricted_key_set
                ? 'A key is set. Leave this empty to keep it.'
                : 'It needs write access to Customers, and is not shown again. Empty: the key of your Stripe connection.'
            }
            placeholder="rk_live_…"
            autoComplete="off"
            value={draft.restrictedKey}
            error={wrong('settings.restricted_key')}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
            onChange={(event) => change({ restrictedKey: event.currentTarget.value })}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label="Value of one credit"
              required
              inputMode="decimal"
              value={draft.creditValue}
              error={wrong('settings.credit_value')}
              onChange={(event) => change({ creditValue: event.currentTarget.value })}
            />
            <TextInput
              label="Currency"
              required
              maxLength={3}
              value={draft.currency}
              error={wrong('settings.currency')}
              onChange={(event) => change({ currency: event.currentTarget.value })}
            />
          </SimpleGrid>
        </>
      )}
      {!existing && (
        <Checkbox
          label="Also deliver credits that are earned already"
          description="Credits that you gave by hand and did not mark delivered would be given twice."
          checked={draft.includeEarlier}
          onChange={(event) => change({ includeEarlier: event.currentTarget.checked })}
        />
      )}
    </>
  );
}
