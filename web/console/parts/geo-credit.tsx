import { Anchor } from '@mantine/core';
import { SmallNote } from './note.tsx';

/** Attribution that DB-IP's license requires wherever country and city are shown. */
export const GeoCredit = () => (
  <SmallNote mt="md">
    Country and city:{' '}
    <Anchor href="https://db-ip.com" target="_blank" rel="noreferrer" inherit underline="always">
      IP Geolocation by DB-IP
    </Anchor>
    , CC BY 4.0.
  </SmallNote>
);
