import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApi } from '../../api/queries.ts';
import { formatExact, formatInstant } from '../../formats.ts';
import { SmallNote } from '../../parts/note.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { ProgramTerms, ProgramTermsList } from './responses.ts';

/** The newest versions of a program's terms, and how many accepted each. */
export function TermsVersions({ programId }: { programId: string }) {
  const terms = useApi<ProgramTermsList>(`/programs/${programId}/terms`, { limit: 50 });
  return (
    <QueryView
      query={terms}
      lines={2}
      empty={{ when: (data) => data.terms.length === 0, show: <Text size="sm">No terms yet.</Text> }}
    >
      {(data) => (
        <Stack component="ul" gap="sm" p={0} m={0} aria-label="Versions of the terms">
          {data.terms.map((version) => (
            <Version key={version.number} terms={version} />
          ))}
        </Stack>
      )}
    </QueryView>
  );
}

function Version({ terms }: { terms: ProgramTerms }) {
  const { version, url, text, is_current, accepted, published_at } = terms;
  const [isOpen, { toggle }] = useDisclosure(false);
  return (
    <li style={{ listStyle: 'none' }}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
          <Group gap="xs">
            <Text size="sm" fw={600}>
              {version}
            </Text>
            {is_current && <StatusBadge sign="good">Current</StatusBadge>}
          </Group>
          <SmallNote>
            Published {formatInstant(published_at)}, accepted by {formatExact(accepted)}
          </SmallNote>
          {url !== null && (
            <Anchor href={url} target="_blank" rel="noreferrer" size="sm">
              {url}
            </Anchor>
          )}
        </div>
        {text !== null && (
          <Button
            variant="default"
            size="compact-xs"
            onClick={toggle}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Hide' : 'Read'} version ${version}`}
          >
            {isOpen ? 'Hide' : 'Read'}
          </Button>
        )}
      </Group>
      {isOpen && (
        <Text size="sm" mt="xs" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      )}
    </li>
  );
}
