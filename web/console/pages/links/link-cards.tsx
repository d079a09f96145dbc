import { Checkbox, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { type FoundLinks, STATUS_NAMES } from '../../api/links.ts';
import { useSession } from '../../api/session.ts';
import { formatMoney, plural } from '../../formats.ts';
import { ChannelName } from '../../parts/channel-mark.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DestinationMark, type DestinationPages, hostOf } from '../../parts/destination-pages.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { LinkAddress } from './link-address.tsx';
import type { useSelection } from './use-selection.ts';

type Props = {
  rows: FoundLinks['links'];
  destinations: DestinationPages;
  withFigures: boolean;
  /** Host of links without a domain, where cards name their domain; else null. */
  ownHost: string | null;
  /** Null: nothing can be selected. */
  selection: ReturnType<typeof useSelection> | null;
};

/** The links of a page as cards, for a phone or a tablet. */
export function LinkCards({ rows, destinations, withFigures, ownHost, selection }: Props) {
  const { workspace } = useSession();
  return (
    <Stack gap="xs" component="ul" className="plain-list" aria-label="Links">
      {rows.map(({ link, status, figures }) => (
        <Paper key={link.id} component="li" withBorder p="sm">
          <Group gap="sm" wrap="nowrap" align="flex-start">
            {selection && (
              <Checkbox
                mt={2}
                aria-label={`Select ${link.slug}`}
                checked={selection.isChosen(link.id)}
                onChange={() => selection.toggle(link.id)}
              />
            )}
            <div className="link-card">
              <LinkAddress link={link} host={ownHost} />
              <Text size="sm" truncate dir="auto">
                {link.name}
              </Text>
              <SmallNote truncate>
                <DestinationMark page={destinations.get(link.id)} name={hostOf(link.destination)} />
                {destinations.get(link.id)?.title ?? link.destination}
              </SmallNote>
              <SmallNote mt={4}>
                <ChannelName channel={link.channel ?? 'smart'} />,{' '}
                {link.archived ? 'archived' : STATUS_NAMES[status].toLowerCase()}
              </SmallNote>
              {withFigures && (
                <Text component="div" size="sm" mt={2}>
                  {figures ? plural(figures.clicks, 'click', 'clicks') : <Skeleton height="1lh" width={64} />}
                  {figures &&
                    figures.conversions > 0 &&
                    `, ${plural(figures.conversions, 'conversion', 'conversions')}, ${formatMoney(figures.revenue, workspace.currency)}`}
                </Text>
              )}
            </div>
            <CopyButton value={link.short_url} what={`the short URL of ${link.slug}`} />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}
