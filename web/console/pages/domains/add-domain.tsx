import { TextInput } from '@mantine/core';
import { useSend } from '../../api/queries.ts';
import { hostOf } from '../../parts/clean-address.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { Domain } from './responses.ts';

/** Adds a domain. An address is taken for its host. */
export function AddDomain({ close }: { close: () => void }) {
  const add = useSend<string, Domain>((domain) => ({ path: '/domains', body: { domain }, once: true }), {
    refresh: ['/domains'],
    done: ({ domain }) => `${domain} was added: set its DNS records now`,
    tellFailure: false,
  });
  const { draft, text, isDirty } = useDraft({ domain: '' }, add.error);
  return (
    <FormDialog
      title="Add a domain"
      close={close}
      isDirty={isDirty && !add.isSuccess}
      send={add}
      submit={() => add.mutate(hostOf(draft.domain) || draft.domain.trim(), { onSuccess: close })}
      label="Add"
      failed="Not added"
      fields={['domain']}
    >
      <TextInput
        label="Domain"
        description="A subdomain for short links, such as go.example.com, leaves your website as it is."
        placeholder="go.example.com"
        required
        data-autofocus
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        maxLength={300}
        {...text('domain')}
      />
      <Note>Next: you set two DNS records, which the following page shows.</Note>
    </FormDialog>
  );
}
