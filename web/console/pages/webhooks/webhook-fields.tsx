import { Checkbox, Code, Stack, TextInput } from '@mantine/core';
import { EVENT_TYPES, EVENTS } from '../../../../core/webhooks/event-types.ts';
import { fieldError } from '../../api/failures.ts';
import { AddressField } from '../../parts/address-field.tsx';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
import type { Webhook } from './responses.ts';
import { BatchFields, FilterFields, FormatField } from './webhook-choices.tsx';

export type WebhookDraft = {
  url: string;
  events: string[];
  description: string;
  links: string[];
  folders: string[];
  programs: string[];
  channels: string[];
  format: Webhook['format'];
  isBatched: boolean;
  max: string;
  seconds: string;
};

/** The fields of a webhook, with the API's errors. */
export function WebhookFields({ form }: { form: Form<WebhookDraft> }) {
  const { text, choice } = fieldsOf(form);
  const isWrong = fieldError(form.error, 'events') !== null;
  return (
    <>
      <AddressField
        label="Address"
        description="Where your server receives messages. It must respond with a status from 200 to 299 within 20 seconds."
        placeholder="https://you.example/hoplog"
        isFirst
        required
        maxLength={2_048}
        {...choice('url')}
      />
      <Checkbox.Group
        label="Events"
        description="The events it receives from now on."
        required
        value={form.draft.events}
        error={isWrong && 'Choose at least one.'}
        onChange={(events) => form.change({ events })}
      >
        <Stack gap="sm" mt="xs">
          {EVENT_TYPES.map((type) => (
            <Checkbox
              key={type}
              value={type}
              label={EVENTS[type].label}
              description={
                <>
                  {EVENTS[type].when}. <Code>{type}</Code>
                </>
              }
              {...(isWrong && { 'aria-invalid': true })}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <FormatField form={form} />
      <FilterFields form={form} />
      <BatchFields form={form} />
      <TextInput
        label="Description"
        description="A note for your colleagues. Optional."
        autoComplete="off"
        maxLength={500}
        {...text('description')}
      />
    </>
  );
}
