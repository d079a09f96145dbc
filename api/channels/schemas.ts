import { Type } from 'typebox';
import { OneOf, WINDOW_PARAMETERS, Window } from '../schemas.ts';

export const ChannelsQuery = Type.Object({
  ...WINDOW_PARAMETERS,
  ltv: Type.Optional(OneOf(['0', '1'], { description: '`1`: adds `ltv` to each row.' })),
});

export const ChannelsReport = Type.Object({
  window: Window,
  channels: Type.Array(
    Type.Object({
      channel: Type.String(),
      clicks: Type.Integer(),
      visitors: Type.Integer(),
      conversions: Type.Number({ description: 'Fractions under `linear` attribution.' }),
      revenue: Type.Number({ description: "Major units of the workspace's currency." }),
      ltv: Type.Optional(
        Type.Number({
          description:
            'All-time revenue of the people whose first click came through the channel, whatever link their orders are ' +
            'credited to. Clicks of deleted bio buttons are none: once the buttons that a person clicked first are deleted, ' +
            'the next channel counts. An order counts for the person known when it was attributed: who is found to be the ' +
            'same person later, by an email, moves later orders only.',
        }),
      ),
    }),
  ),
});
