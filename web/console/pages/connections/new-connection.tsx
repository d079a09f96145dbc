import { Radio, Stack } from '@mantine/core';
import { useLocation } from 'wouter';
import { PROVIDERS, providerWords } from '../../../../core/connections/providers.ts';
import { useSend } from '../../api/queries.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import type { Connection } from './responses.ts';

type Draft = { provider: Connection['provider']; mode: Connection['settings']['mode'] };

/** Asks which provider to connect. The steps that follow are on the connection's page. */
export function NewConnection({ close }: { close: () => void }) {
  const [, navigate] = useLocation();
  const make = useSend<Draft, Connection>(
    ({ provider, mode }) => ({ path: '/connections', body: { provider, settings: { mode } }, once: true }),
    { refresh: ['/connections'], tellFailure: false },
  );
  const { draft, choice } = useDraft<Draft>({ provider: 'stripe', mode: 'live' });
  return (
    <FormDialog
      title="Connect a provider"
      close={close}
      send={make}
      submit={() => make.mutate(draft, { onSuccess: ({ id }) => navigate(`/connections/${id}`) })}
      label="Continue"
      failed="Not connected"
    >
      <Radio.Group label="Provider" {...choice('provider')}>
        <Stack gap="xs" mt="xs">
          {PROVIDERS.map((provider) => (
            <Radio key={provider} value={provider} label={providerWords(provider).name} />
          ))}
        </Stack>
      </Radio.Group>
      {providerWords(draft.provider).hasModes && (
        <Radio.Group label="Events that count" {...choice('mode')}>
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
    </FormDialog>
  );
}
