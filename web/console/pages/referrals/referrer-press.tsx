import type { ReactNode } from 'react';
import { TextPress } from '../../parts/text-press.tsx';
import { useViewState } from './view-state.ts';

/** Opens the details of a referrer. @param id the referrer's `partner_id` */
export function ReferrerPress({ id, children }: { id: string; children: ReactNode }) {
  const view = useViewState();
  return <TextPress onClick={() => view.show('enrollments', { partner: id })}>{children}</TextPress>;
}
