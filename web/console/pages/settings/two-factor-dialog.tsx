import { Button, Center, Code, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../api/call.ts';
import { useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/form-dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { useDraft } from '../../parts/use-draft.ts';
import { qrModules, qrSvg, svgUrl } from '../links/qr-code.ts';
import type { RecoveryCodes } from './own-two-factor.tsx';

type AppSecret = ResponseOf<'/two-factor/setup', 'post'>;

/** Turns on two-factor sign-in: scan the QR code, enter a code, keep the recovery codes. */
export function TwoFactorDialog({ close }: { close: () => void }) {
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
  const enable = useSend<{ code: string }, RecoveryCodes>((body) => ({ path: '/two-factor', body }), {
    tellFailure: false,
  });
  const { draft, text } = useDraft({ code: '' }, enable.error);
  if (enable.data) return <RecoveryCodesDialog codes={enable.data.recovery_codes} close={close} />;
  return (
    <Dialog title="Turn on two-factor sign-in" close={close}>
      <QueryView query={setup} lines={6}>
        {({ secret, uri }) => (
          <DialogForm
            close={close}
            send={enable}
            submit={() => enable.mutate(draft)}
            label="Turn on"
            failed="Not turned on"
            fields={['code']}
          >
            <Text size="sm">
              Scan the QR code with an authenticator app, then enter the code that it shows.
            </Text>
            <QrCode uri={uri} />
            <div>
              <Note>Or type this secret into the app:</Note>
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
              {...text('code', 'code', 'Code')}
            />
          </DialogForm>
        )}
      </QueryView>
    </Dialog>
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
    <Dialog title="Your recovery codes" close={close} stays>
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
    </Dialog>
  );
}
