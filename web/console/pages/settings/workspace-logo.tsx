import { Button, FileButton, Group, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { fieldDetail } from '../../api/failures.ts';
import { useApi, useSend } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { dataUrlOf } from '../../parts/data-url.ts';
import { QueryView } from '../../parts/query-view.tsx';
import { Section } from '../../parts/section.tsx';
import { BlocksSkeleton } from '../../parts/skeletons.tsx';

const SHOWN = 64;

/** The logo for QR codes. */
export function WorkspaceLogo() {
  const { can } = useSession();
  const settings = useApi<{ logo: string | null }>('/workspace');
  const save = useSend<string | null>((logo) => ({ path: '/workspace', method: 'PATCH', body: { logo } }), {
    refresh: ['/workspace'],
    done: 'Logo saved',
    tellFailure: false,
  });
  const reset = useRef<() => void>(null);
  const [unread, setUnread] = useState<string | null>(null);
  const choose = async (file: File | null) => {
    if (!file) return;
    // Otherwise a browser sends no event when the same file is chosen again.
    reset.current?.();
    setUnread(null);
    try {
      save.mutate(await dataUrlOf(file));
    } catch (error) {
      setUnread(sentenceOf(error));
    }
  };
  const wrong = save.error ? (fieldDetail(save.error, 'logo')?.message ?? sentenceOf(save.error)) : unread;
  return (
    <Section title="Logo" about="For the middle of QR codes: a PNG of at most 100 KiB and 1,024 pixels.">
      <QueryView query={settings} skeleton={<BlocksSkeleton heights={[36]} />}>
        {({ logo }) => (
          <Group>
            {logo === null ? (
              <Text size="sm">
                {can('owner') ? 'No logo yet' : 'No logo yet. An owner of the workspace can upload one.'}
              </Text>
            ) : (
              <img src={logo} alt="The logo of the workspace" width={SHOWN} height={SHOWN} className="logo" />
            )}
            {can('owner') && (
              <>
                <FileButton accept="image/png" resetRef={reset} onChange={(file) => void choose(file)}>
                  {(button) => (
                    <Button
                      {...button}
                      variant="default"
                      leftSection={<IconUpload size={16} />}
                      loading={save.isPending}
                    >
                      {logo === null ? 'Upload a logo' : 'Replace'}
                    </Button>
                  )}
                </FileButton>
                {logo !== null && (
                  <Button variant="subtle" disabled={save.isPending} onClick={() => save.mutate(null)}>
                    Remove
                  </Button>
                )}
              </>
            )}
          </Group>
        )}
      </QueryView>
      {wrong !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert" mt="xs">
          The logo {wrong}
        </Text>
      )}
    </Section>
  );
}
