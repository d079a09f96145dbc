import { Anchor, Modal, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useSend } from '../../api/queries.ts';
import { changedFields, isAlike } from '../../parts/changed-fields.ts';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import type { Webhook, WebhookWithSecret } from './responses.ts';
import { type WebhookDraft, WebhookForm } from './webhook-form.tsx';

type Got = Webhook & Partial<Pick<WebhookWithSecret, 'secret'>>;

/** After a lost response: a secret is not stored for a second one. */
const NOT_SHOWN = 'The response was lost. Replace the secret to see one.';

/** Creates a webhook and shows its secret, or edits one. */
export function WebhookDialog({ webhook, close }: { webhook: Webhook | null; close: () => void }) {
  useFocusBack();
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)');
  // As it was when the form opened: unchanged fields must not overwrite changes of someone else.
  const [before] = useState(() => draftOf(webhook));
  const [draft, setDraft] = useState(before);
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const save = useSend<object, Got>(
    // A retry after a lost response finds the first webhook.
    (body) =>
      webhook
        ? { path: `/webhooks/${webhook.id}`, method: 'PATCH', body }
        : { path: '/webhooks', body, once: true },
    { refresh: ['/webhooks'], tellFailure: false, ...(webhook && { done: 'Webhook saved' }) },
  );

  const submit = () => {
    const body = webhook ? changedFields(bodyOf(before), bodyOf(draft)) : bodyOf(draft);
    if (Object.keys(body).length === 0) return close();
    save.mutate(body, {
      onSuccess: ({ id, secret }) => {
        if (webhook) close();
        else setMade({ id, secret: secret ?? NOT_SHOWN });
      },
    });
  };

  const isDirty = !isAlike(bodyOf(draft), bodyOf(before));
  const title = webhook ? 'Edit the webhook' : made ? 'The webhook is ready' : 'New webhook';
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size="lg"
      fullScreen={isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      closeOnClickOutside={!isDirty}
      closeOnEscape={!isDirty}
      {...(made && STAYS)}
    >
      <LeaveGuard active={isDirty && !made} withQuery>
        Your input will be lost.
      </LeaveGuard>
      {made ? (
        <SecretMade value={made.secret} what="signing secret" onDone={() => navigate(`/webhooks/${made.id}`)}>
          <Text size="sm">
            Your server uses it to verify that a message comes from Hoplog.{' '}
            {/* Beside this page: the secret can't be shown again. */}
            <Anchor
              href="/console/settings/developers?snippet=verify"
              target="_blank"
              rel="noopener"
              underline="always"
            >
              How to verify a message
            </Anchor>
          </Text>
        </SecretMade>
      ) : (
        <WebhookForm
          draft={draft}
          onChange={setDraft}
          error={save.error}
          pending={save.isPending}
          submit={submit}
          cancel={close}
          label={webhook ? 'Save' : 'Create'}
        />
      )}
    </Modal>
  );
}

const draftOf = (webhook: Webhook | null): WebhookDraft => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? [],
  description: webhook?.description ?? '',
});

/** The body of `POST /webhooks`, with events in a fixed order, because a re-selected one comes last. */
const bodyOf = ({ url, events, description }: WebhookDraft) => ({
  url: url.trim(),
  events: events.toSorted(),
  description: description.trim() === '' ? null : description.trim(),
});
