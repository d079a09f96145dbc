/** A click as `GET /clicks`, its live stream and the visitors show it. */
export type { ClickRecord as Click } from '../../../core/clicks/click-fields.ts';
