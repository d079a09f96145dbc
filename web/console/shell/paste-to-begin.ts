import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../api/session.ts';
import { webAddressIn } from '../parts/clean-address.ts';
import { takesText } from '../parts/takes-text.ts';
import { leaveBy } from './leaving.ts';

/** Begins a new link when an address is pasted outside of a field, on any page. */
export function usePasteToBegin(): void {
  const mayCreate = useSession().can('operator');
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!mayCreate) return;
    const onPaste = ({ target, clipboardData, defaultPrevented }: ClipboardEvent) => {
      if (defaultPrevented || takesText(target) || document.querySelector('[role="dialog"]')) return;
      const address = webAddressIn(clipboardData?.getData('text') ?? '');
      if (address === null) return;
      leaveBy(() => navigate(`/links/new?url=${encodeURIComponent(address)}`));
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, [mayCreate, navigate]);
}
