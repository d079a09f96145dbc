import { Alert, Button, Group, Modal, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { PROVIDERS, providerWords } from '../../../../core/connections/providers.ts';
import { useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import type { Connection } from './responses.ts';

type Draft = { provider: Connection['provider']; mode: Connection['settings']['mode'] };

/** Asks which provider to connect. The steps that follow are on the connection's page. */
export function NewConnection({ close }: { close: () => void }) {
  useFocusBack();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState<Draft>({ provider: 'stripe', mode: 'live' });
  const make = useSend<Draft, Connection>(
    ({ provider, mode }) => ({ path: '/connections', body: { provider, settings: { mode } }, once: true }),
    { refresh: ['/connections'], tellFailure: false },
  );
  return (
    <Modal opened onClose={close} title="Connect a provider" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate(draft, { onSuccess: ({ id }) => navigate(`/connections/${id}`) });
        }}
      >
        <Stack gap="md">
          <Radio.Group
            label="Provider"
            value={draft.provider}
            onChange={(provider) =>
              setDraft({ ...draft, provider: PROVIDERS.find((one) => one === provider) ?? draft.provider })
            }
          >
            <Stack gap="xs" mt="xs">
              {PROVIDERS.map((provider) => (
                <Radio key={provider} value={provider} label={providerWords(provider).name} />
              ))}
            </Stack>
          </Radio.Group>
          {providerWords(draft.provider).hasModes && (
            <Radio.Group
              label="Events that count"
              value={draft.mode}
              onChange={(mode) => setDraft({ ...draft, mode: mode === 'test' ? 'test' : 'live' })}
            >
              <Stack gap="xs" mt="xs">
                <Radio value="live" label="Live mode" description="Real payments." />
                <Radio
                  value="test"
                  label="Test mode"
                  description="Payments of the provider's test mode, to try it."
                />
              </Stack>
            </Radio.Group>
          )}
          {make.isError && (
            <Alert color="red" variant="outline" role="alert" title="Not connected">
              {sentenceOf(make.error)}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={make.isPending}>
              Continue
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
