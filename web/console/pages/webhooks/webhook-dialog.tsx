import { useLocation } from 'wouter';
import { useSend } from '../../api/queries.ts';
import { changedFields, isAlike } from '../../parts/changed-fields.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretMade } from '../../parts/secret-made.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { Webhook, WebhookWithSecret } from './responses.ts';
import { VerifyNote } from './verify-note.tsx';
import { canBatch, FILTERS, filterOf } from './webhook-choices.tsx';
import { type WebhookDraft, WebhookFields } from './webhook-fields.tsx';

type Got = Webhook & Partial<Pick<WebhookWithSecret, 'secret'>>;

/** Creates a webhook and shows its secret, or edits one. */
export function WebhookDialog({ webhook, close }: { webhook: Webhook | null; close: () => void }) {
  const [, navigate] = useLocation();
  const save = useSend<object, Got>(
    // A retry after a lost response finds the first webhook.
    (body) =>
      webhook
        ? { path: `/webhooks/${webhook.id}`, method: 'PATCH', body }
        : { path: '/webhooks', body, once: true },
    { refresh: ['/webhooks'], tellFailure: false, ...(webhook && { done: 'Webhook saved' }) },
  );
  // Unchanged fields must not overwrite changes of someone else.
  const { before, draft, form } = useDraft(() => draftOf(webhook), save.error);
  const made = webhook ? undefined : save.data;

  const submit = () => {
    const body = webhook ? changedFields(bodyOf(before), bodyOf(draft)) : bodyOf(draft);
    if (Object.keys(body).length === 0) close();
    else if (webhook) save.mutate(body, { onSuccess: close });
    else save.mutate(body);
  };

  return (
    <FormDialog
      title={webhook ? 'Edit the webhook' : made ? 'The webhook is ready' : 'New webhook'}
      close={close}
      isLong
      isDirty={!isAlike(bodyOf(draft), bodyOf(before))}
      send={save}
      submit={submit}
      label={webhook ? 'Save' : 'Create'}
      failed="Not saved"
      fields={[
        'url',
        'events',
        'description',
        'batch.max',
        'batch.seconds',
        'format',
        ...FILTERS.map(([name]) => `filter.${name}`),
      ]}
      made={
        made && (
          <SecretMade
            value={made.secret}
            lost="Replace the secret to see one."
            what="signing secret"
            onDone={() => navigate(`/webhooks/${made.id}`)}
          >
            <VerifyNote what="a message" />
          </SecretMade>
        )
      }
    >
      <WebhookFields form={form} />
    </FormDialog>
  );
}

const draftOf = (webhook: Webhook | null): WebhookDraft => ({
  url: webhook?.url ?? '',
  events: webhook?.events ?? [],
  description: webhook?.description ?? '',
  links: webhook?.filter?.link_ids ?? [],
  folders: webhook?.filter?.folder_ids ?? [],
  programs: webhook?.filter?.program_ids ?? [],
  channels: webhook?.filter?.channels ?? [],
  format: webhook?.format ?? 'json',
  isBatched: webhook?.batch != null,
  max: String(webhook?.batch?.max ?? 100),
  seconds: String(webhook?.batch?.seconds ?? 5),
});

/** The body of `POST /webhooks`, with events in a fixed order, because a re-selected one comes last. */
const bodyOf = ({ url, events, description, format, isBatched, max, seconds, ...chosen }: WebhookDraft) => {
  return {
    url: url.trim(),
    events: events.toSorted(),
    description: description.trim() === '' ? null : description.trim(),
    filter: filterOf(chosen),
    format,
    batch: isBatched && canBatch({ events, format }) ? { max: Number(max), seconds: Number(seconds) } : null,
  };
};
