import { lazy, Suspense, useEffect, useState } from 'react';
import { onConfirmationRequired } from '../api/call.ts';

/** Loads with the first confirmation. */
const ConfirmDialog = lazy(() => import('./confirm-dialog.tsx'));

/** Asks the member to confirm to be at the browser when a change of access requires it; the change then continues. */
export function ConfirmIdentity() {
  const [end, setEnd] = useState<((isConfirmed: boolean) => void) | null>(null);
  useEffect(() => {
    let asking: Promise<boolean> | null = null;
    let refuse = () => {};
    onConfirmationRequired(() => {
      asking ??= new Promise<boolean>((resolve) => {
        refuse = () => resolve(false);
        setEnd(() => resolve);
      }).finally(() => {
        asking = null;
        setEnd(null);
      });
      return asking;
    });
    // Another member's pages must not continue a change that waits.
    return () => {
      onConfirmationRequired(async () => false);
      refuse();
    };
  }, []);
  return (
    end && (
      <Suspense fallback={null}>
        <ConfirmDialog end={end} />
      </Suspense>
    )
  );
}
