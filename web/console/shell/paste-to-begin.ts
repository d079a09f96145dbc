import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../api/session.ts';
import { webAddressIn } from '../parts/clean-address.ts';
import { leaveBy } from './leaving.ts';

/** Begins a new link when an address is pasted outside of a field, on any page. */
export function usePasteToBegin(): void {
  const mayCreate = useSession().can('operator');
  const [, navigate] = useLocation();
  useEffect(() => {
    if (!mayCreate) return;
    const onPaste = ({ target, clipboardData, defaultPrevented }: ClipboardEvent) => {
      const isField =
        target instanceof Element && target.closest('input, textarea, select, [contenteditable]');
      if (defaultPrevented || isField || document.querySelector('[role="dialog"]')) return;
      const address = webAddressIn(clipboardData?.getData('text') ?? '');
      if (address === null) return;
      leaveBy(() => navigate(`/links/new?url=${encodeURIComponent(address)}`));
    };
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, [mayCreate, navigate]);
}
