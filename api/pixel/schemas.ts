import { type Static, Type } from 'typebox';
import { REPORT_PROBLEMS, type ReportProblem } from '../../core/tracking/report-problems.ts';
import { Body, Instant, Nullable, OneOf, Url, Uuid } from '../schemas.ts';

const PROBLEM_FIELDS = {
  problem: OneOf(Object.keys(REPORT_PROBLEMS) as ReportProblem[], {
    title: 'ReportProblemName',
    description: 'A name that stays the same.',
  }),
  field: Type.String({ description: 'The field of the call.' }),
  outcome: OneOf(['refused', 'corrected'], {
    description: '`corrected`: recorded with this field changed or left out. `refused`: not recorded.',
  }),
  message: Type.String({ description: 'The reason in words.' }),
  example: Nullable(
    Type.String({ description: 'The last value, without personal data: of most texts only the length.' }),
  ),
};

export const ReportProblemList = Type.Object(
  {
    problems: Type.Array(
      Type.Object({ ...PROBLEM_FIELDS, count: Type.Integer(), last_at: Instant }, { title: 'ReportProblem' }),
    ),
  },
  { title: 'ReportProblemList' },
);

export const PixelTestBody = Body(
  {
    url: Type.String({
      format: 'uri',
      maxLength: 2_000,
      description: 'A page of your site, `http` or `https`.',
    }),
  },
  { title: 'CreatePixelTest' },
);
export type PixelTestBody = Static<typeof PixelTestBody>;

export const PixelTest = Type.Object(
  {
    id: Uuid,
    url: Url,
    test_url: { ...Url, description: 'Open this address: what the page sends shows up in `calls`.' },
    expires_at: Instant,
    calls: Type.Array(
      Type.Object(
        {
          at: Instant,
          type: OneOf(['test', 'identify', 'order', 'unknown'], {
            description: '`test`: the pixel runs in the page.',
          }),
          outcome: OneOf(['recorded', 'corrected', 'refused']),
          visitors: Type.Integer({ description: 'How many visitor ids came with it.' }),
          names: Type.Array(OneOf(['email', 'external_user_id']), {
            description: 'The fields that named the person.',
          }),
          order: Nullable(
            Type.Object(
              { order_id: Type.String(), amount: Type.Number(), currency: Type.String() },
              { title: 'PixelTestOrder' },
            ),
          ),
          problems: Type.Array(Type.Object(PROBLEM_FIELDS, { title: 'PixelTestProblem' })),
        },
        { title: 'PixelTestCall' },
      ),
    ),
  },
  { title: 'PixelTest' },
);
export type PixelTest = Static<typeof PixelTest>;
