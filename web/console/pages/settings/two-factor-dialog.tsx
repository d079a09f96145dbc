import { Alert, Button, Center, Code, Group, Modal, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/call.ts';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { STAYS } from '../../parts/secret-made.tsx';
import { useFocusBack } from '../../parts/use-focus-back.ts';
import { qrModules, qrSvg, svgUrl } from '../links/qr-code.ts';
import type { RecoveryCodes } from './own-two-factor.tsx';

type AppSecret = ResponseOf<'/two-factor/setup', 'post'>;

/** Turns on two-factor sign-in: scan the QR code, enter a code, keep the recovery codes. */
export function TwoFactorDialog({ close }: { close: () => void }) {
  useFocusBack();
  const [code, setCode] = useState('');
  // One secret for the life of the dialog: each call replaces the one before.
  const [nonce] = useState(() => Math.random());
  const setup = useQuery<AppSecret>({
    queryKey: ['/two-factor/setup', nonce],
    queryFn: () => callApi<AppSecret>('/two-factor/setup', { method: 'POST' }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const enable = useSend<void, RecoveryCodes>(() => ({ path: '/two-factor', body: { code } }), {
    tellFailure: false,
  });
  const wrong = fieldError(enable.error, 'code');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    enable.mutate();
  };
  if (enable.data) return <RecoveryCodesDialog codes={enable.data.recovery_codes} close={close} />;
  return (
    <Modal
      opened
      onClose={close}
      title="Turn on two-factor sign-in"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <QueryView query={setup} lines={6}>
        {({ secret, uri }) => (
          <form onSubmit={submit} noValidate>
            <Stack gap="md">
              <Text size="sm">
                Scan the QR code with an authenticator app, then enter the code that it shows.
              </Text>
              <QrCode uri={uri} />
              <div>
                <Text size="sm" c="dimmed">
                  Or type this secret into the app:
                </Text>
                <Group gap="xs" wrap="nowrap">
                  <Code style={{ overflowWrap: 'anywhere' }}>{secret}</Code>
                  <CopyButton value={secret} what="secret" />
                </Group>
              </div>
              <TextInput
                label="Code"
                autoComplete="one-time-code"
                inputMode="numeric"
                maxLength={10}
                value={code}
                error={wrong && sentence(`code ${wrong}`)}
                onChange={(event) => setCode(event.currentTarget.value)}
              />
              {enable.isError && wrong === null && (
                <Alert color="red" variant="outline" role="alert">
                  {sentenceOf(enable.error)}
                </Alert>
              )}
              <Group justify="flex-end">
                <Button variant="default" onClick={close}>
                  Cancel
                </Button>
                <Button type="submit" loading={enable.isPending}>
                  Turn on
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </QueryView>
    </Modal>
  );
}

/** Drawn in the browser: the secret is sent to no one. */
function QrCode({ uri }: { uri: string }) {
  const code = useQuery({
    queryKey: ['/two-factor/setup/qr', uri],
    queryFn: () => qrModules(uri),
    gcTime: 0,
  });
  const alt = 'QR code for your authenticator app';
  return (
    <Center>
      {code.data ? (
        <img src={svgUrl(qrSvg(code.data, alt))} alt={alt} width={200} height={200} />
      ) : (
        <Skeleton width={200} height={200} />
      )}
    </Center>
  );
}

/** Shows recovery codes, once. */
export function RecoveryCodesDialog({ codes, close }: { codes: string[]; close: () => void }) {
  const done = useSend<void>(() => ({ path: '/two-factor', method: 'GET' }), { refresh: ['/two-factor'] });
  return (
    <Modal
      opened
      onClose={close}
      title="Your recovery codes"
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...STAYS}
    >
      <Stack gap="md">
        <Text size="sm">
          Each signs you in once, without the app. Keep them in a safe place: they are not shown again.
        </Text>
        <Code block>{codes.join('\n')}</Code>
        <Group justify="space-between">
          <CopyButton value={codes.join('\n')} what="recovery codes" />
          <Button
            data-autofocus
            loading={done.isPending}
            onClick={() => done.mutate(undefined, { onSettled: close })}
          >
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
