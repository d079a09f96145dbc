import { Anchor, Badge, Box, Button, Group, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { IconClick, IconShoppingCart, IconUser } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { channelName, formatDate, formatInstant, formatMoney, formatTime, plural } from '../../formats.ts';
import { deviceOf, placeOf } from '../../parts/click-words.ts';
import { SmallNote } from '../../parts/note.tsx';
import { type ClickEntry, type Day, daysOf, type Entry, type Item, type touchesOf } from './visits.ts';

/** Steps shown initially, and added per press. */
const STEP = 100;

type Touches = ReturnType<typeof touchesOf>;

/**
 * A journey by days, oldest first, one line for each visit. A long one shows its newest part, with a button for earlier
 * steps.
 */
export function JourneyTimeline({ entries, touches }: { entries: Entry[]; touches: Touches }) {
  const [shown, setShown] = useState(STEP);
  const earlier = Math.max(0, entries.length - shown);
  return (
    <>
      {earlier > 0 && (
        <Button variant="default" mb="md" onClick={() => setShown(shown + STEP)}>
          Show {plural(Math.min(STEP, earlier), 'earlier step', 'earlier steps')} of {earlier}
        </Button>
      )}
      <Stack gap="lg">
        {daysOf(entries.slice(earlier)).map((day) => (
          <DaySection key={day.key} day={day} touches={touches} />
        ))}
      </Stack>
    </>
  );
}

function DaySection({ day, touches }: { day: Day; touches: Touches }) {
  const date = formatDate(day.ts);
  return (
    <section aria-label={date}>
      <Title order={3} size="h5" mb="xs">
        {date}
      </Title>
      <ul className="steps">
        {day.items.map((item) => (
          <ItemLine key={item.key} item={item} touches={touches} />
        ))}
      </ul>
    </section>
  );
}

function ItemLine({ item, touches }: { item: Item; touches: Touches }) {
  if (item.type === 'visit') return <Visit clicks={item.clicks} touches={touches} />;
  const { entry } = item;
  return entry.type === 'order' ? (
    <Line icon={<IconShoppingCart size={16} aria-hidden="true" />} ts={entry.ts} stands>
      <Text size="sm" fw={600} span>
        Ordered for <span>{formatMoney(entry.amount, entry.currency)}</span>
      </Text>
    </Line>
  ) : (
    <Line icon={<IconUser size={16} aria-hidden="true" />} ts={entry.ts} stands>
      <Text size="sm" fw={600} span style={{ overflowWrap: 'anywhere' }}>
        Identified {entry.email === null ? 'by a user ID, without an email' : `as ${entry.email}`}
      </Text>
    </Line>
  );
}

/** A line with the time at the left. Orders and identifies stand out. */
function Line(props: { icon: ReactNode; ts: string; stands?: boolean; children: ReactNode }) {
  return (
    <li>
      <SmallNote className="figure step-time" span>
        <time dateTime={props.ts} title={formatInstant(props.ts)}>
          {formatTime(props.ts)}
        </time>
      </SmallNote>
      <ThemeIcon variant={props.stands ? 'filled' : 'default'} size="md" radius="xl">
        {props.icon}
      </ThemeIcon>
      <Box flex={1} miw={0}>
        {props.children}
      </Box>
    </li>
  );
}

/** The first click of a visit; the others on demand. */
function Visit({ clicks, touches }: { clicks: [ClickEntry, ...ClickEntry[]]; touches: Touches }) {
  const [isOpen, setOpen] = useState(false);
  const [first, ...others] = clicks;
  return (
    <>
      <ClickLine click={first} touches={touches}>
        {others.length > 0 && (
          <Button variant="subtle" size="compact-xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Show less' : `and ${plural(others.length, 'more click', 'more clicks')}`}
          </Button>
        )}
      </ClickLine>
      {isOpen &&
        others.map((click, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: clicks of a visit are only ever added at the end
          <ClickLine key={index} click={click} touches={touches} />
        ))}
    </>
  );
}

function ClickLine(props: { click: ClickEntry; touches: Touches; children?: ReactNode }) {
  const { click, touches } = props;
  return (
    <Line icon={<IconClick size={16} aria-hidden="true" />} ts={click.ts}>
      <Group gap="xs">
        <Text size="sm" span style={{ overflowWrap: 'anywhere' }}>
          <Anchor component={Link} href={`/links/${click.link_id}`} inherit underline="always">
            {click.slug === '' ? 'A deleted link' : click.slug}
          </Anchor>{' '}
          on {channelName(click.channel)}
        </Text>
        {click === touches.first && (
          <Badge variant="outline" tt="none">
            First touch
          </Badge>
        )}
        {click === touches.last && click !== touches.first && (
          <Badge variant="outline" tt="none">
            Last touch
          </Badge>
        )}
        {props.children}
      </Group>
      <SmallNote style={{ overflowWrap: 'anywhere' }}>
        {[click.country && placeOf(click), deviceOf(click), click.referer && `from ${click.referer}`]
          .filter(Boolean)
          .join(' · ')}
      </SmallNote>
    </Line>
  );
}
