import { type Static, Type } from 'typebox';
import { CLICK_FILTER_PARAMETERS } from '../analytics/click-filters.ts';
import { Bots, Orphans } from '../clicks/schemas.ts';
import { LinkIds } from '../schemas.ts';

/** Longest duration of one connection: the next one checks key and plan again. Seconds. */
const LONGEST_SECONDS = 600;

export const LiveQuery = Type.Object({
  link_ids: Type.Optional(LinkIds('Only clicks of these links: at most 500 ids, separated by commas.')),
  bots: Bots,
  orphans: Orphans,
  ...CLICK_FILTER_PARAMETERS,
  since: Type.Optional(
    Type.String({
      maxLength: 32_768,
      description:
        'The id of an event: the stream resumes after it. Or an instant, such as the `watermark` of `GET /clicks`: the ' +
        'stream begins with clicks not older than it. At most a day back. A `Last-Event-ID` header takes precedence.',
    }),
  ),
  seconds: Type.Integer({
    minimum: 1,
    maximum: LONGEST_SECONDS,
    default: LONGEST_SECONDS,
    description: 'The response ends after this time. Reconnect with the last id.',
  }),
});
export type LiveQuery = Static<typeof LiveQuery>;
