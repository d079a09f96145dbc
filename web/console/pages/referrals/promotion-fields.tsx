import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { fieldError } from '../../api/failures.ts';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
import type { Connection } from '../connections/responses.ts';
import type { PromotionDraft } from './promotion-draft.ts';

const FIELDS = ['connection_id', 'percent_off', 'amount_off', 'currency', 'duration_in_months'];

const DURATIONS = [
  { value: 'once', label: 'The first payment' },
  { value: 'repeating', label: 'A number of months' },
  { value: 'forever', label: 'Every payment' },
];

/** The paths whose failures the fields show. @param at path of the terms in the request */
export const promotionPaths = (at: string): string[] => FIELDS.map((field) => `${at}${field}`);

type Props = { form: Form<PromotionDraft>; makers: readonly Connection[]; at: string };

/** The terms of a promotion code that is made in Stripe. @param at path of the terms in the request */
export function PromotionFields({ form, makers, at }: Props) {
  const { draft } = form;
  const { text, choice } = fieldsOf(form);
  const isPercent = draft.kind === 'percent';
  return (
    <>
      {(makers.length > 1 || fieldError(form.error, `${at}connection_id`) !== null) && (
        <Select
          label="Connection"
          allowDeselect={false}
          data={makers.map(({ id, settings }) => ({
            value: id,
            label: settings.mode === 'live' ? 'Stripe, live mode' : 'Stripe, test mode',
          }))}
          {...choice('connectionId', `${at}connection_id`)}
        />
      )}
      <SimpleGrid cols={{ base: 1, xs: isPercent ? 2 : 3 }}>
        <Select
          label="Discount"
          allowDeselect={false}
          data={[
            { value: 'percent', label: 'Percent' },
            { value: 'amount', label: 'Amount' },
          ]}
          {...choice('kind')}
        />
        <TextInput
          label={isPercent ? 'Percent off' : 'Amount off'}
          required
          inputMode="decimal"
          {...text('value', `${at}${isPercent ? 'percent_off' : 'amount_off'}`)}
        />
        {!isPercent && (
          <TextInput label="Currency" required maxLength={3} {...text('currency', `${at}currency`)} />
        )}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select label="It applies to" allowDeselect={false} data={DURATIONS} {...choice('duration')} />
        {draft.duration === 'repeating' && (
          <TextInput
            label="Months"
            required
            inputMode="numeric"
            {...text('months', `${at}duration_in_months`)}
          />
        )}
      </SimpleGrid>
    </>
  );
}
