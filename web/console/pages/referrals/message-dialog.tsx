import { Alert, Button, Code, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { MESSAGE_FIELDS } from '../../../../core/referrals/message-fields.ts';
import { useSend } from '../../api/queries.ts';
import { formatExact, plural } from '../../formats.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { useGroups } from './filters.tsx';
import { referrerName } from './referrer-cell.tsx';
import type { Enrollment, MessagePreview, Program } from './responses.ts';

type Draft = {
  /** `program <id>` or `group <id>`. */
  to: string;
  subject: string;
  text: string;
};

/** Writes a message to referrers, shows it, and sends it. */
export function MessageDialog({
  programs,
  referrer = null,
  close,
}: {
  programs: readonly Program[];
  /** To this one alone. */
  referrer?: Enrollment | null;
  close: () => void;
}) {
  const groups = useGroups();
  const [shown, setShown] = useState<MessagePreview | null>(null);
  const look = useSend<object, MessagePreview>((body) => ({ path: '/messages/preview', body }), {
    tellFailure: false,
  });
  const send = useSend<object>((body) => ({ path: '/messages', body, once: true }), {
    refresh: ['/messages'],
    done: 'Message sent',
    tellFailure: false,
  });
  const step = shown === null ? look : send;
  const { draft, change, text, isDirty } = useDraft<Draft>(
    { to: `program ${programs[0]?.id ?? ''}`, subject: '', text: '' },
    step.error,
  );
  const [kind, id] = draft.to.split(' ');
  const to = referrer
    ? { partner_ids: [referrer.partner_id] }
    : kind === 'group'
      ? { group_id: id }
      : { program_id: id };
  const body = { ...to, subject: draft.subject.trim(), text: draft.text.trim() };
  const isWhole = body.subject !== '' && body.text !== '';
  return (
    <FormDialog
      title={referrer ? `Write to ${referrerName(referrer)}` : 'Write a message'}
      close={close}
      isLong
      isDirty={isDirty}
      send={step}
      submit={() =>
        shown === null ? look.mutate(body, { onSuccess: setShown }) : send.mutate(body, { onSuccess: close })
      }
      label={shown === null ? 'Preview' : `Send to ${plural(shown.recipients, 'referrer', 'referrers')}`}
      failed={shown === null ? 'Not written' : 'Not sent'}
      fields={shown === null ? ['subject', 'text'] : []}
      isReady={isWhole && (shown === null || shown.recipients > 0)}
      aside={
        shown !== null && (
          <Button variant="default" onClick={() => setShown(null)}>
            Change
          </Button>
        )
      }
    >
      {shown === null ? (
        <>
          {!referrer && (
            <NativeSelect
              label="To"
              data={[
                ...programs.map(({ id, name }) => ({
                  value: `program ${id}`,
                  label: `All referrers of ${name}`,
                })),
                ...groups.map(({ id, name }) => ({ value: `group ${id}`, label: `The group ${name}` })),
              ]}
              value={draft.to}
              onChange={(event) => change({ to: event.currentTarget.value })}
            />
          )}
          <TextInput
            label="Subject"
            required
            maxLength={150}
            {...text('subject', 'subject', 'The subject')}
          />
          <Textarea
            label="Text"
            description="Plain text. An empty line begins a paragraph."
            required
            autosize
            minRows={6}
            maxRows={16}
            maxLength={10_000}
            {...text('text', 'text', 'The text')}
          />
          <SmallNote>
            What differs for each referrer:{' '}
            {MESSAGE_FIELDS.map((field) => (
              <Code key={field} mr={4}>{`{${field}}`}</Code>
            ))}
            Write <Code>{'{name|there}'}</Code> for those whose name is unknown.
          </SmallNote>
        </>
      ) : (
        <Preview shown={shown} />
      )}
    </FormDialog>
  );
}

function Preview({ shown: { recipients, left_out: left, subject, text } }: { shown: MessagePreview }) {
  const reasons = [
    left.unsubscribed > 0 && `${formatExact(left.unsubscribed)} want no mail`,
    left.no_email > 0 && `${formatExact(left.no_email)} have no email`,
    left.suspended > 0 && `${formatExact(left.suspended)} are suspended`,
  ].filter((reason) => reason !== false);
  return (
    <Stack gap="sm">
      {reasons.length > 0 && (
        <Alert color="yellow" variant="outline" title="Left out">
          {reasons.join(', ')}.
        </Alert>
      )}
      {recipients === 0 ? (
        <Text>No one gets this message.</Text>
      ) : (
        <section aria-label="Preview">
          <SmallNote>The mail to the first of them:</SmallNote>
          <Text fw={600} my="xs" style={{ overflowWrap: 'anywhere' }}>
            {subject}
          </Text>
          <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {text}
          </Text>
        </section>
      )}
    </Stack>
  );
}
