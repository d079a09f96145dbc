import { Notifications } from '@mantine/notifications';

/** Where notifications show. */
export default function NotificationList() {
  return <Notifications position="bottom-right" />;
}
