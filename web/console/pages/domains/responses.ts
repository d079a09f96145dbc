import type { ResponseOf } from '../../api/responses.ts';

export type Domains = ResponseOf<'/domains'>;
export type Domain = Domains['domains'][number];
