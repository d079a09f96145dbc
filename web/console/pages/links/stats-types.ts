import type { ResponseOf } from '../../api/responses.ts';

export type Stats = ResponseOf<'/stats'>;
export type Breakdown = ResponseOf<'/stats/breakdown'>;
export type Clicks = ResponseOf<'/clicks'>;
