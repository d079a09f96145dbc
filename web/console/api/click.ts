import type { ResponseOf } from './responses.ts';

/** A click as lists, the live stream and journeys show it. */
export type Click = ResponseOf<'/clicks'>['clicks'][number];
