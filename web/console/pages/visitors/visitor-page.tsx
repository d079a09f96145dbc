import { Box, Group, Paper, Stack, Title } from '@mantine/core';
import { useParams } from 'wouter';
import { useApi } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { channelName, formatAgo, formatInstant } from '../../formats.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { GeoCredit } from '../../parts/geo-credit.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { BlocksSkeleton, FactsSkeleton } from '../../parts/skeletons.tsx';
import { JourneyTimeline } from './journey-timeline.tsx';
import { type ClickEntry, touchesOf } from './visits.ts';

type Journey = ResponseOf<'/visitors/{id}/journey'>;

/** A visitor and their journey. */
export default function VisitorPage() {
  const { id } = useParams<{ id: string }>();
  const journey = useApi<Journey>(`/visitors/${encodeURIComponent(id)}/journey`, { include: 'details' });
  return (
    <>
      <PageHeader title={journey.data?.visitor.email ?? 'Visitor'} />
      <QueryView query={journey} skeleton={<VisitorSkeleton />}>
        {({ visitor, journey: entries }) => <Visitor visitor={visitor} entries={entries} />}
      </QueryView>
    </>
  );
}

const VisitorSkeleton = () => (
  <Stack gap="lg">
    <Paper withBorder p="md">
      <FactsSkeleton count={6} />
    </Paper>
    <Box>
      <Title order={2} size="h3" mb="md">
        Journey
      </Title>
      <BlocksSkeleton heights={[24, 44, 44, 44, 44]} />
    </Box>
  </Stack>
);

function Visitor({ visitor, entries }: { visitor: Journey['visitor']; entries: Journey['journey'] }) {
  const touches = touchesOf(entries);
  return (
    <Stack gap="lg">
      <Paper withBorder p="md" component="section" aria-label="The visitor">
        <Facts>
          <Fact name="Visitor ID">
            <Group gap="xs" wrap="nowrap">
              <span>{visitor.id}</span>
              <CopyButton value={visitor.id} what="the visitor ID" />
            </Group>
          </Fact>
          <Fact name="Email">{visitor.email ?? 'Unknown'}</Fact>
          <Fact name="First touch">{touchText(touches.first)}</Fact>
          <Fact name="Last touch">{touchText(touches.last)}</Fact>
          <Fact name="First seen">{seen(visitor.first_seen)}</Fact>
          <Fact name="Last seen">{seen(visitor.last_seen)}</Fact>
        </Facts>
      </Paper>
      <Box>
        <Title order={2} size="h3" mb="md">
          Journey
        </Title>
        <JourneyTimeline entries={entries} touches={touches} />
        <GeoCredit />
      </Box>
    </Stack>
  );
}

const seen = (instant: string) => `${formatInstant(instant)} (${formatAgo(instant)})`;

const touchText = (click: ClickEntry | null) =>
  click === null
    ? 'None'
    : `${click.slug === '' ? 'A deleted link' : click.slug} on ${channelName(click.channel)}`;
