import { Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { formatMoney, plural } from '../../formats.ts';
import type { BioButton, ButtonFigures as Figures } from './answers.ts';

/** What a button brought in the window, or why it counts nothing. */
export function ButtonFigures({
  saved,
  figures,
  isAwaited,
}: {
  saved: BioButton | undefined;
  figures: Figures | undefined;
  isAwaited: boolean;
}) {
  const { workspace } = useSession();
  return (
    <Text size="sm" c="dimmed" mt="xs" className="figure">
      {textOf()}
    </Text>
  );

  function textOf(): string {
    if (!saved) return 'Counts clicks once it is saved.';
    if (!saved.tracked_link_id) return 'Leads straight to its address: its clicks are not counted.';
    if (!figures) return isAwaited ? 'Counting…' : '';
    return [
      plural(figures.clicks, 'click', 'clicks'),
      plural(figures.visitors, 'visitor', 'visitors'),
      plural(figures.conversions, 'conversion', 'conversions'),
      formatMoney(figures.revenue, workspace.currency),
    ].join(' · ');
  }
}
