import { ActionIcon, CopyButton as Copy } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

type Props = { value: string; what: string; size?: 'lg' | 'sm' };

/** Copies `value`; its label and icon confirm it. A small one is for rows of a table. */
export function CopyButton({ value, what, size = 'lg' }: Props) {
  const icon = size === 'lg' ? 18 : 14;
  return (
    <Copy value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <ActionIcon
          variant={size === 'lg' ? 'default' : 'subtle'}
          color="gray"
          size={size}
          onClick={copy}
          aria-label={copied ? `Copied ${what}` : `Copy ${what}`}
          title={copied ? 'Copied' : `Copy ${what}`}
        >
          {copied ? <IconCheck size={icon} stroke={1.6} /> : <IconCopy size={icon} stroke={1.6} />}
        </ActionIcon>
      )}
    </Copy>
  );
}
