import type { ResponseOf } from '../../api/responses.ts';

export type Domains = ResponseOf<'/domains'>;
export type Domain = Domains['domains'][number];

/** Reads that a change of a domain concerns. */
export const DOMAIN_READS = ['/domains', '/links', '/workspace'];
