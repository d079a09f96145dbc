import { Anchor, Text } from '@mantine/core';

/** Country and city come from DB-IP's free database, whose license wants this wherever they are shown. */
export const GeoCredit = () => (
  <Text size="xs" c="dimmed" mt="md">
    Country and city:{' '}
    <Anchor href="https://db-ip.com" target="_blank" rel="noreferrer" inherit underline="always">
      IP Geolocation by DB-IP
    </Anchor>
    , CC BY 4.0.
  </Text>
);
