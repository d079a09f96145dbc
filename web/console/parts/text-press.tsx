import { Anchor, type AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = AnchorProps & { onClick: () => void; title?: string; children: ReactNode };

/** A button that looks like a link, for what opens or filters on the page. */
export const TextPress = (press: Props) => (
  <Anchor component="button" type="button" size="sm" className="text-anchor" {...press} />
);
