import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { fieldError } from '../../api/failures.ts';
import { sentence } from '../../api/sentence.ts';
import type { Connection } from '../connections/responses.ts';
import type { PromotionDraft } from './promotion-draft.ts';

const FIELDS = ['connection_id', 'percent_off', 'amount_off', 'currency', 'duration_in_months'];

const DURATIONS = [
  { value: 'once', label: 'The first payment' },
  { value: 'repeating', label: 'A number of months' },
  { value: 'forever', label: 'Every payment' },
];

/** Whether the failure is about one of the fields, which shows it. @param at path of the terms in the request */
export const isAboutPromotion = (error: unknown, at: string): boolean =>
  FIELDS.some((field) => fieldError(error, `${at}${field}`) !== null);

/** The terms of a promotion code that is made in Stripe. @param at path of the terms in the request */
export function PromotionFields({
  draft,
  makers,
  error,
  at,
  change,
}: {
  draft: PromotionDraft;
  makers: readonly Connection[];
  error: unknown;
  at: string;
  change: (part: Partial<PromotionDraft>) => void;
}) {
  const wrong = (field: string) => {
    const message = fieldError(error, `${at}${field}`);
    return message && sentence(message);
  };
  const isPercent = draft.kind === 'percent';
  return (
    <>
      {(makers.length > 1 || wrong('connection_id')) && (
        <Select
          label="Connection"
          allowDeselect={false}
          data={makers.map(({ id, settings }) => ({
            value: id,
            label: settings.mode === 'live' ? 'Stripe, live mode' : 'Stripe, test mode',
          }))}
          value={draft.connectionId}
          error={wrong('connection_id')}
          onChange={(value) => value && change({ connectionId: value })}
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
          value={draft.kind}
          onChange={(value) => change({ kind: value === 'amount' ? 'amount' : 'percent' })}
        />
        <TextInput
          label={isPercent ? 'Percent off' : 'Amount off'}
          required
          inputMode="decimal"
          value={draft.value}
          error={wrong(isPercent ? 'percent_off' : 'amount_off')}
          onChange={(event) => change({ value: event.currentTarget.value })}
        />
        {!isPercent && (
          <TextInput
            label="Currency"
            required
            maxLength={3}
            value={draft.currency}
            error={wrong('currency')}
            onChange={(event) => change({ currency: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="It applies to"
          allowDeselect={false}
          data={DURATIONS}
          value={draft.duration}
          onChange={(value) =>
            change({ duration: value === 'repeating' || value === 'forever' ? value : 'once' })
          }
        />
        {draft.duration === 'repeating' && (
          <TextInput
            label="Months"
            required
            inputMode="numeric"
            value={draft.months}
            error={wrong('duration_in_months')}
            onChange={(event) => change({ months: event.currentTarget.value })}
          />
        )}
      </SimpleGrid>
    </>
  );
}
