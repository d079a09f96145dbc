import { Notifications } from '@mantine/notifications';

/** The list of notifications. */
export default function NotificationList() {
  return <Notifications position="bottom-right" />;
}
