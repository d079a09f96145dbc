import { type Static, Type } from 'typebox';
import { CHANNELS } from '../../core/enrich/channels.ts';
import { OneOf } from '../schemas.ts';

/** Longest time that one connection lasts: its key and plan are asked for again with the next. Seconds. */
export const LONGEST_SECONDS = 600;

export const LiveQuery = Type.Object({
  link_ids: Type.Optional(
    Type.String({ description: 'Clicks of these links only: at most 500 ids with commas between.' }),
  ),
  channel: Type.Optional(OneOf(CHANNELS, { description: 'Clicks of this channel only.' })),
  country: Type.Optional(
    Type.String({ pattern: '^[A-Z]{2}$', description: 'Clicks from this country only: its ISO 3166 code.' }),
  ),
  bots: OneOf(['exclude', 'include'], { default: 'exclude', description: '`include`: bot traffic too.' }),
  since: Type.Optional(
    Type.String({
      maxLength: 32_768,
      description:
        "An event's id: what follows it. Or an instant, such as the `watermark` of `GET /clicks`: what is not older. At " +
        'most a day back. A `Last-Event-ID` header comes before it.',
    }),
  ),
  seconds: Type.Integer({
    minimum: 1,
    maximum: LONGEST_SECONDS,
    default: LONGEST_SECONDS,
    description: 'The answer ends after so long; connect again with the last id.',
  }),
});
export type LiveQuery = Static<typeof LiveQuery>;
