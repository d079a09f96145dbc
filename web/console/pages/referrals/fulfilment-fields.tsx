import { Checkbox, PasswordInput, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { AddressField } from '../../parts/address-field.tsx';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
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
  existing,
  form,
}: {
  existing: Fulfilment | null;
  form: Form<FulfilmentDraft>;
}) {
  const { draft } = form;
  const { text, check, choice } = fieldsOf(form);
  return (
    <>
      {!existing && (
        <Radio.Group label="How a credit reaches the user" {...choice('provider')}>
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
          {...choice('url', 'settings.url')}
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
            {...text('restrictedKey', 'settings.restricted_key')}
            visibilityToggleButtonProps={{ 'aria-label': 'Show the key' }}
          />
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <TextInput
              label="Value of one credit"
              required
              inputMode="decimal"
              {...text('creditValue', 'settings.credit_value')}
            />
            <TextInput label="Currency" required maxLength={3} {...text('currency', 'settings.currency')} />
          </SimpleGrid>
        </>
      )}
      {!existing && (
        <Checkbox
          label="Also deliver credits that are earned already"
          description="Credits that you gave by hand and did not mark delivered would be given twice."
          {...check('includeEarlier')}
        />
      )}
    </>
  );
}
