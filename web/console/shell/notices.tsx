import { lazy, Suspense, useEffect, useState } from 'react';

const Notifications = lazy(async () => {
  const { Notifications } = await import('@mantine/notifications');
  return { default: Notifications };
});

/**
 * Where notifications show. They tell what became of something that a person did, so their code is loaded with the first
 * press; one that comes sooner waits in the library's store.
 */
export function Notices() {
  const [isUsed, setUsed] = useState(false);
  useEffect(() => {
    const note = () => setUsed(true);
    const once = { once: true, capture: true };
    document.addEventListener('pointerdown', note, once);
    document.addEventListener('keydown', note, once);
    return () => {
      document.removeEventListener('pointerdown', note, once);
      document.removeEventListener('keydown', note, once);
    };
  }, []);
  if (!isUsed) return null;
  return (
    <Suspense fallback={null}>
      <Notifications position="bottom-right" />
    </Suspense>
  );
}
