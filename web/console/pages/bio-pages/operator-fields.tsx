import { Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';

/** Fields that only operators may change. Controls for everyone, such as the time range, belong outside. */
export const OperatorFields = ({ children }: { children: ReactNode }) => (
  <Fieldset variant="unstyled" disabled={!useSession().can('operator')}>
    {children}
  </Fieldset>
);
