import { Text, type TextProps } from '@mantine/core';
import type { ReactNode } from 'react';

type Props = TextProps & { title?: string | undefined; children: ReactNode };

/** A sentence that is less important than the text around it. */
export const Note = (text: Props) => <Text size="sm" c="dimmed" {...text} />;

/** A second, smaller line, such as an email below a name. */
export const SmallNote = (text: Props) => <Text size="xs" c="dimmed" {...text} />;
