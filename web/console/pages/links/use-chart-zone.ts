import { useSession } from '../../api/session.ts';
import { viewerTimeZone } from '../../formats.ts';

/** The time zone of a link's chart: the workspace's, else the viewer's. */
export const useChartZone = (): string => useSession().workspace.time_zone ?? viewerTimeZone();
