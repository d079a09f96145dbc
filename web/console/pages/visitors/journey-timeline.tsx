import { Anchor, Button, Text, Timeline } from '@mantine/core';
import { IconClick, IconShoppingCart, IconUser } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { ResponseOf } from '../../api/responses.ts';
import { channelName, formatInstant, formatMoney, plural } from '../../formats.ts';
import { deviceOf, placeOf } from '../../parts/click-words.ts';

/** A step of a journey, with the details of its clicks. */
type Entry = ResponseOf<'/visitors/{id}/journey'>['journey'][number];

/** Steps shown initially, and added per press. */
const STEP = 100;

/** A journey, oldest first. A long one shows its newest part, with a button for earlier steps. */
export function JourneyTimeline({ entries }: { entries: Entry[] }) {
  const [shown, setShown] = useState(STEP);
  const earlier = Math.max(0, entries.length - shown);
  const visible = keyed(entries).slice(earlier);
  return (
    <>
      {earlier > 0 && (
        <Button variant="default" mb="md" onClick={() => setShown(shown + STEP)}>
          Show {plural(Math.min(STEP, earlier), 'earlier step', 'earlier steps')} of {earlier}
        </Button>
      )}
      <Timeline
        active={visible.length}
        bulletSize={28}
        lineWidth={2}
        role="list"
        aria-label="Steps of the journey"
      >
        {visible.map(({ key, entry }) => (
          <Step key={key} entry={entry} />
        ))}
      </Timeline>
    </>
  );
}

/** Steps with unique keys; several may share instant and type. */
function keyed(entries: Entry[]): { key: string; entry: Entry }[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const name = `${entry.ts} ${entry.type}`;
    const nth = (counts.get(name) ?? 0) + 1;
    counts.set(name, nth);
    return { key: `${name} ${nth}`, entry };
  });
}

function Step({ entry }: { entry: Entry }) {
  const when = (
    <Text size="xs" c="dimmed" className="figure">
      <time dateTime={entry.ts}>{formatInstant(entry.ts)}</time>
    </Text>
  );
  switch (entry.type) {
    case 'click':
      return (
        <Timeline.Item
          role="listitem"
          bullet={<IconClick size={16} aria-hidden="true" />}
          title="Clicked a link"
        >
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Anchor component={Link} href={`/links/${entry.link_id}`} inherit underline="always">
              {entry.slug === '' ? 'A deleted link' : entry.slug}
            </Anchor>{' '}
            on {channelName(entry.channel)}
          </Text>
          <Text size="sm">
            {placeOf(entry)}. {deviceOf(entry)}.
          </Text>
          {entry.referer && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              Referer: {entry.referer}
            </Text>
          )}
          {when}
        </Timeline.Item>
      );
    case 'identify':
      return (
        <Timeline.Item role="listitem" bullet={<IconUser size={16} aria-hidden="true" />} title="Identified">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {entry.email ?? 'User ID of your system, without an email'}
          </Text>
          {when}
        </Timeline.Item>
      );
    case 'order':
      return (
        <Timeline.Item
          role="listitem"
          bullet={<IconShoppingCart size={16} aria-hidden="true" />}
          title="Ordered"
        >
          <Text size="sm" className="figure">
            {formatMoney(entry.amount, entry.currency)}
          </Text>
          {when}
        </Timeline.Item>
      );
  }
}
