import { Alert, Button, Checkbox, Code, Group, Stack, TextInput } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { EVENT_TYPES, EVENTS } from '../../../../core/webhooks/event-types.ts';
import { fieldError } from '../../api/failures.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { AddressField } from '../../parts/address-field.tsx';

export type WebhookDraft = { url: string; events: string[]; description: string };

type Props = {
  draft: WebhookDraft;
  onChange: (draft: WebhookDraft) => void;
  error: unknown;
  pending: boolean;
  submit: () => void;
  cancel: () => void;
  label: string;
};

/** The form of a webhook, with the API's errors at their fields. */
export function WebhookForm({ draft, onChange, error, pending, submit, cancel, label }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [role="alert"]')?.focus();
  }, [error]);

  const wrong = {
    url: fieldError(error, 'url'),
    events: fieldError(error, 'events'),
    description: fieldError(error, 'description'),
  };
  const isAboutAField = Object.values(wrong).some((message) => message !== null);
  const change = (part: Partial<WebhookDraft>) => onChange({ ...draft, ...part });
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack gap="md">
        <AddressField
          label="Address"
          description="Where your server receives messages. It must respond with a status from 200 to 299 within 20 seconds."
          placeholder="https://you.example/hoplog"
          isFirst
          required
          maxLength={2_048}
          value={draft.url}
          error={wrong.url && sentence(wrong.url)}
          onChange={(address) => change({ url: address })}
        />
        <Checkbox.Group
          label="Events"
          description="The events it receives from now on."
          required
          value={draft.events}
          error={wrong.events && 'Choose at least one.'}
          onChange={(events) => change({ events })}
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
                {...(wrong.events && { 'aria-invalid': true })}
              />
            ))}
          </Stack>
        </Checkbox.Group>
        <TextInput
          label="Description"
          description="A note for your colleagues. Optional."
          autoComplete="off"
          maxLength={500}
          value={draft.description}
          error={wrong.description && sentence(wrong.description)}
          onChange={(event) => change({ description: event.currentTarget.value })}
        />
        {error !== null && !isAboutAField && (
          <Alert color="red" variant="outline" role="alert" tabIndex={-1} title="Not saved">
            {sentenceOf(error)}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit" loading={pending}>
            {label}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
