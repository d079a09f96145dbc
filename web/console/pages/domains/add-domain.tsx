import { Button, Group, Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldError, messageOf } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence } from '../../api/sentence.ts';
import { hostOf } from '../../parts/clean-address.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { LeaveGuard } from '../../shell/leave-guard.tsx';
import type { Domain } from './responses.ts';

/** Adds a domain. An address is taken for its host. */
export function AddDomain({ close }: { close: () => void }) {
  useFocusBack();
  const [text, setText] = useState('');
  const add = useSend<string, Domain>((domain) => ({ path: '/domains', body: { domain }, once: true }), {
    refresh: ['/domains'],
    done: ({ domain }) => `${domain} was added: set its DNS records now`,
    tellFailure: false,
  });
  const error = add.isError ? sentence(fieldError(add.error, 'domain') ?? messageOf(add.error)) : null;
  return (
    <Modal opened onClose={close} title="Add a domain" closeButtonProps={{ 'aria-label': 'Close' }}>
      <LeaveGuard active={text !== '' && !add.isSuccess} withQuery>
        Your input will be lost.
      </LeaveGuard>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate(hostOf(text) || text.trim(), { onSuccess: close });
        }}
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
          value={text}
          error={error}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Text size="sm" c="dimmed" mt="sm">
          Next: you set two DNS records, which the following page shows.
        </Text>
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
