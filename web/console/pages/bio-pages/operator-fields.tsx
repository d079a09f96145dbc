import { Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.ts';

/** Fields that only an operator may change; what anybody may use, such as the choice of a window, stands outside. */
export const OperatorFields = ({ children }: { children: ReactNode }) => (
  <Fieldset variant="unstyled" disabled={!useSession().can('operator')}>
    {children}
  </Fieldset>
);
