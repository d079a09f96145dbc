import { Anchor, Button, FileButton, Group, Input, SegmentedControl, Text } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../../api/queries.ts';
import { sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import { dataUrlOf } from '../../parts/data-url.ts';
import { SmallNote } from '../../parts/note.tsx';

const SHOWN = 40;
const NAMES = { none: 'None', workspace: 'Workspace', own: 'Own' };

type Props = {
  /** `none`, `workspace`, or a data URL. */
  logo: string;
  change: (logo: string) => void;
  wrong: string | null;
};

/** The logo in the middle of a code: none, that of the workspace, or one of the link's own. */
export function QrLogoField({ logo, change, wrong }: Props) {
  const { workspace, can } = useSession();
  const settings = useApi<{ logo: string | null }>('/workspace');
  const hasLogo = settings.data ? settings.data.logo !== null : null;
  const id = useId();
  const reset = useRef<() => void>(null);
  const [own, setOwn] = useState(logo.startsWith('data:') ? logo : null);
  const [isOwn, setIsOwn] = useState(own !== null);
  const [unread, setUnread] = useState<string | null>(null);
  const upload = async (file: File | null) => {
    if (!file) return;
    // Otherwise a browser sends no event when the same file is chosen again.
    reset.current?.();
    try {
      const url = await dataUrlOf(file);
      setUnread(null);
      setOwn(url);
      change(url);
    } catch (error) {
      setUnread(sentenceOf(error));
    }
  };
  const kind = logo.startsWith('data:') ? 'own' : logo === 'workspace' ? 'workspace' : isOwn ? 'own' : 'none';
  const error = unread ?? wrong;
  return (
    <div>
      <Input.Label component="div" id={id}>
        Logo
      </Input.Label>
      <SegmentedControl
        fullWidth
        aria-labelledby={id}
        data={Object.entries(NAMES).map(([value, label]) => ({
          value,
          label,
          disabled: (value === 'workspace' && hasLogo !== true) || (value === 'own' && !workspace.paid),
        }))}
        value={kind}
        onChange={(value) => {
          setIsOwn(value === 'own');
          change(value === 'own' ? (own ?? 'none') : value);
        }}
      />
      {kind === 'own' && (
        <Group mt="xs" gap="sm">
          {own !== null && (
            <img src={own} alt="The logo of this link" width={SHOWN} height={SHOWN} className="logo" />
          )}
          <FileButton accept="image/png" resetRef={reset} onChange={(file) => void upload(file)}>
            {(button) => (
              <Button {...button} size="xs" variant="default" leftSection={<IconUpload size={16} />}>
                {own === null ? 'Upload a logo' : 'Replace'}
              </Button>
            )}
          </FileButton>
          <SmallNote>A PNG of at most 100 KiB and 1,024 pixels</SmallNote>
        </Group>
      )}
      {kind !== 'own' && hasLogo === false && can('owner') && (
        <SmallNote mt={4}>
          The workspace has no logo yet.{' '}
          <Anchor component={Link} href="/settings" size="xs" underline="always">
            Upload one
          </Anchor>
        </SmallNote>
      )}
      {error !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert" mt="xs">
          {error}
        </Text>
      )}
    </div>
  );
}
