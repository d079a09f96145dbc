import { type Static, Type } from 'typebox';
import { Instant, Nullable, Uuid } from '../../schemas.ts';
import { Totals } from '../payouts/schemas.ts';
import { ReferralWindow } from '../schemas.ts';

const Count = Type.Integer();

export const SummaryQuery = Type.Object({
  days: Type.Integer({ minimum: 7, maximum: 90, default: 30, description: 'UTC days up to today.' }),
  program_id: Type.Optional({ ...Uuid, description: 'Only this program. All programs by default.' }),
});
export type SummaryQuery = Static<typeof SummaryQuery>;

const FIGURES = {
  clicks: Count,
  signups: Count,
  buyers: Type.Integer({ description: 'Users with a purchase in the window.' }),
  purchases: Count,
  revenue: Totals,
};

const Figures = Type.Object(FIGURES, {
  title: 'ReferralTotals',
  description: '`revenue` is the amount of the purchases less refunds.',
});
const Span = Type.Object({ from: Instant, to: Instant }, { title: 'ReferralSpan' });

const Owed = Type.Object(
  {
    pending: Totals,
    eligible: Totals,
    credits: Type.Record(Type.String(), Type.Number(), {
      title: 'CreditTotals',
      description: 'Earned credits that are not delivered, by kind.',
    }),
  },
  {
    title: 'ReferralOwed',
    description:
      'Balances of now, of any age: commission in its hold period, commission that can be paid out, and credits.',
  },
);

const TopReferrer = Type.Object(
  {
    partner_id: Uuid,
    program_id: Uuid,
    external_user_id: Type.String(),
    name: Nullable(Type.String()),
    ...FIGURES,
    owed: Totals,
  },
  { title: 'TopReferrer', description: '`owed` is commission that is not paid.' },
);

const Decisions = Type.Object(
  {
    held_signups: Type.Integer({ description: 'Signups under review.' }),
    changed_payout_methods: Type.Integer({
      description: 'Balances that a payout file leaves out because a page changed the payout address.',
    }),
    missing_payout_methods: Type.Integer({
      description: 'Balances that a payout file leaves out because the referrer has no payout address.',
    }),
    failed_payouts: Type.Integer({
      description: 'Failed payout lines whose referrer has not been paid since.',
    }),
    failed_payout_file: Nullable(
      Type.String({ format: 'uuid', description: 'The payout file with the newest of them.' }),
    ),
    unmatched_purchases: Type.Integer({
      description: 'Purchases of the window without a referrer. 0 with `program_id`: they have no program.',
    }),
    purchases_without_rate: Type.Integer({
      description: 'Purchases that earned nothing because their currency has no exchange rate.',
    }),
    failed_credit_deliveries: Type.Integer({ description: 'Credits whose delivery failed.' }),
  },
  { title: 'ReferralDecisions', description: 'What waits for a person.' },
);

export const Summary = Type.Object(
  {
    window: ReferralWindow,
    compared_window: Span,
    totals: Figures,
    compared_totals: Figures,
    owed: Owed,
    top_referrers: Type.Array(TopReferrer, {
      description:
        'At most 5, by revenue in the currency of the workspace, then purchases, signups and clicks.',
    }),
    decisions: Decisions,
  },
  { title: 'ReferralSummary' },
);
export type Summary = Static<typeof Summary>;
