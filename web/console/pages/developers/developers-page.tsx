import { Anchor, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useSession } from '../../api/session.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Section } from '../../parts/section.tsx';
import { KeyList } from './keys.tsx';
import { PixelProblemsSection } from './pixel-problems.tsx';
import { PixelTestSection } from './pixel-test.tsx';
import { QuickStart } from './quick-start.tsx';

/** Keys, API reference and quick start for developers. */
export default function DevelopersPage() {
  const { can, urls } = useSession();
  return (
    <>
      <PageHeader title="Developers" />
      {can('owner') ? (
        <KeyList />
      ) : (
        <Section title="Keys">
          <Text size="sm">Owners create and revoke keys. Ask an owner for a key.</Text>
        </Section>
      )}
      <Section title="API reference">
        <Text size="sm">
          <Anchor
            href={new URL('/docs/api', urls.base_url).href}
            target="_blank"
            rel="noreferrer"
            size="sm"
            underline="always"
          >
            Every endpoint with its fields and errors{' '}
            <IconExternalLink size={14} stroke={1.6} aria-label="(opens in a new tab)" />
          </Anchor>
          , also as an{' '}
          <Anchor
            href={new URL('/api/v1/openapi.json', urls.base_url).href}
            target="_blank"
            rel="noreferrer"
            size="sm"
            underline="always"
          >
            OpenAPI document <IconExternalLink size={14} stroke={1.6} aria-label="(opens in a new tab)" />
          </Anchor>
          .
        </Text>
      </Section>
      <PixelTestSection />
      <PixelProblemsSection />
      <QuickStart />
    </>
  );
}
