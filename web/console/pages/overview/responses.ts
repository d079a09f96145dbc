import type { ResponseOf } from '../../api/responses.ts';

export type Stats = ResponseOf<'/stats'>;
export type Figures = Stats['totals'];
/** The period that a report covers. */
export type ReportWindow = Stats['window'];

export type Breakdown = ResponseOf<'/stats/breakdown'>;
export type Dimension = 'channel' | 'link' | 'country' | 'device' | 'browser' | 'os';
