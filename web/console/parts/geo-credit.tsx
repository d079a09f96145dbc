import { Anchor, Text } from '@mantine/core';

/** Attribution that DB-IP's license requires wherever country and city are shown. */
export const GeoCredit = () => (
  <Text size="xs" c="dimmed" mt="md">
    Country and city:{' '}
    <Anchor href="https://db-ip.com" target="_blank" rel="noreferrer" inherit underline="always">
      IP Geolocation by DB-IP
    </Anchor>
    , CC BY 4.0.
  </Text>
);
