import { Type } from 'typebox';
import { FIGURES, Leads, OneOf, WINDOW_PARAMETERS, Window } from '../schemas.ts';

export const ChannelsQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ltv: Type.Optional(OneOf(['0', '1'], { description: '`1` adds `ltv` to each row.' })),
});

const ChannelRow = Type.Object(
  {
    channel: Type.String(),
    ...FIGURES,
    leads: Leads,
    ltv: Type.Optional(
      Type.Number({
        description:
          'Lifetime value: all-time revenue of the people whose first click came through the channel, whichever link ' +
          'their orders are attributed to. Clicks of deleted bio buttons do not count. An order counts for the person ' +
          'known when it was attributed; an email that later joins two visitors moves only later orders.',
      }),
    ),
  },
  { title: 'ChannelRow' },
);

export const ChannelsReport = Type.Object(
  { window: Window, channels: Type.Array(ChannelRow) },
  { title: 'ChannelsReport' },
);
