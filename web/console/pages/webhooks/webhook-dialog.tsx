import { Anchor, Modal, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useSend } from '../../api/queries.ts';
import { SecretMade, STAYS } from '../../parts/secret-made.tsx';
import type { Webhook, WebhookWithSecret } from './answers.ts';
import { type WebhookDraft, WebhookForm } from './webhook-form.tsx';

type Got = Webhook & Partial<Pick<WebhookWithSecret, 'secret'>>;

/** Makes a webhook and shows its secret, or changes one. */
export function WebhookDialog({ webhook, close }: { webhook: Webhook | null; close: () => void }) {
  const [, navigate] = useLocation();
  const isPhone = useMediaQuery('(max-width: 48em)');
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const save = useSend<object, Got>(
    // Sent again after an answer that got lost, the first webhook's secret is shown.
    (body) =>
      webhook
        ? { path: `/webhooks/${webhook.id}`, method: 'PATCH', body }
        : { path: '/webhooks', body, once: true },
    { refresh: ['/webhooks'], tellFailure: false, ...(webhook && { done: 'Webhook saved' }) },
  );

  const submit = ({ url, events, description }: WebhookDraft) => {
    const text = description.trim();
    const body = { url: url.trim(), events, description: text === '' ? null : text };
    save.mutate(body, {
      onSuccess: ({ id, secret }) => {
        if (secret === undefined) close();
        else setMade({ id, secret });
      },
    });
  };

  const title = webhook ? 'Edit the webhook' : made ? 'The webhook is ready' : 'New webhook';
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size="lg"
      fullScreen={isPhone === true}
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...(made && STAYS)}
    >
      {made ? (
        <SecretMade value={made.secret} what="signing secret" onDone={() => navigate(`/webhooks/${made.id}`)}>
          <Text size="sm">
            Your server checks with it that a message really comes from here.{' '}
            <Anchor component={Link} href="/settings/developers?snippet=verify" underline="always">
              How to check a message
            </Anchor>
          </Text>
        </SecretMade>
      ) : (
        <WebhookForm
          initial={{
            url: webhook?.url ?? '',
            events: webhook?.events ?? [],
            description: webhook?.description ?? '',
          }}
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
