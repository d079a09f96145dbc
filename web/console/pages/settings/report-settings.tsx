import { NativeSelect } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSend } from '../../api/queries.ts';
import { SESSION_QUERY, useSession } from '../../api/session.ts';
import { viewerTimeZone } from '../../formats.ts';
import { Section } from '../../parts/section.tsx';

/** The time zone of days and hours in reports. */
export function ReportSettings() {
  const { workspace, can } = useSession();
  const queries = useQueryClient();
  const save = useSend<string>(
    (zone) => ({ path: '/workspace', method: 'PATCH', body: { time_zone: zone === '' ? null : zone } }),
    { refresh: ['/workspace'], done: 'Settings saved' },
  );
  const zone = workspace.time_zone ?? '';
  const zones = [...new Set([...(zone === '' ? [] : [zone]), ...Intl.supportedValuesOf('timeZone')])];
  return (
    <Section title="Reports" about="Days, weeks, and months of the dashboard begin in this time zone.">
      <NativeSelect
        label="Time zone"
        description="Another one moves clicks between days. Totals of a period in days change at its edges."
        maw={420}
        disabled={!can('owner') || save.isPending}
        data={[{ value: '', label: `Each viewer's own (yours: ${viewerTimeZone()})` }, ...zones]}
        value={zone}
        onChange={(event) =>
          save.mutate(event.currentTarget.value, {
            onSuccess: () => void queries.invalidateQueries({ queryKey: SESSION_QUERY.queryKey }),
          })
        }
      />
    </Section>
  );
}
