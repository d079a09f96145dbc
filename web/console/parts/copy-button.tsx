import { ActionIcon, CopyButton as Copy } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** Copies `value`; its label and icon confirm it. */
export function CopyButton({ value, what }: { value: string; what: string }) {
  return (
    <Copy value={value} timeout={2_000}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="default"
          size="lg"
          onClick={copy}
          aria-label={copied ? `Copied ${what}` : `Copy ${what}`}
          title={copied ? 'Copied' : `Copy ${what}`}
        >
          {copied ? <IconCheck size={18} stroke={1.6} /> : <IconCopy size={18} stroke={1.6} />}
        </ActionIcon>
      )}
    </Copy>
  );
}
