import { useNotifications } from '@mantine/notifications';
import { lazy, Suspense, useEffect, useState } from 'react';

const NotificationList = lazy(() => import('./notification-list.tsx'));

/** Notifications. Their code loads with the first one, which waits in the library's store. */
export function Notices() {
  const { notifications } = useNotifications();
  const [isUsed, setUsed] = useState(false);
  useEffect(() => {
    if (notifications.length > 0) setUsed(true);
  }, [notifications]);
  if (!isUsed) return null;
  return (
    <Suspense fallback={null}>
      <NotificationList />
    </Suspense>
  );
}
