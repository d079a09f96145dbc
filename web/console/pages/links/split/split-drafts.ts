import type { SplitGoal } from '../../../../../core/links/rules/types.ts';
import { localDateTime, newKey } from '../rules/rule-drafts.ts';

/** State of a variant's fields, as typed. */
export type VariantDraft = {
  /** For React. */
  key: string;
  /** Undefined: the API makes one. */
  id: string | undefined;
  destination_url: string;
  weight: string;
};

/** State of a split's fields, as typed. */
export type SplitDraft = {
  variants: VariantDraft[];
  /** `datetime-local` value, in the viewer's time zone. */
  ends_at: string;
  goal: SplitGoal | '';
  /** Id of the variant that all visitors get; null: not decided. It is not sent. */
  winner: string | null;
};

export const NO_SPLIT: SplitDraft = { variants: [], ends_at: '', goal: '', winner: null };

export const newVariant = (weight: number): VariantDraft => ({
  key: newKey(),
  id: undefined,
  destination_url: '',
  weight: String(weight),
});

type RecordedSplit = {
  split: { id: string; destination_url: string; weight: number }[] | null;
  split_ends_at: string | null;
  split_goal: SplitGoal | null;
  split_winner: string | null;
};

/** The state for a link's split. */
export function splitDraft({ split, split_ends_at, split_goal, split_winner }: RecordedSplit): SplitDraft {
  return {
    variants: (split ?? []).map(({ weight, ...variant }) => ({
      ...variant,
      key: variant.id,
      weight: String(weight),
    })),
    ends_at: split_ends_at ? localDateTime(split_ends_at) : '',
    goal: split_goal ?? '',
    winner: split_winner,
  };
}

/**
 * The split's fields as the API takes them. Text that is not a number or an instant is sent as typed, for its error.
 */
export function splitBody({ variants, ends_at, goal }: SplitDraft): Record<string, unknown> {
  const isSet = variants.length > 0;
  const ends = new Date(ends_at);
  return {
    split: isSet
      ? variants.map(({ id, destination_url, weight }) => ({
          ...(id !== undefined && { id }),
          destination_url: destination_url.trim(),
          weight: /^\d+$/.test(weight.trim()) ? Number(weight) : weight,
        }))
      : null,
    split_ends_at:
      !isSet || ends_at === '' ? null : Number.isNaN(ends.getTime()) ? ends_at : ends.toISOString(),
    split_goal: !isSet || goal === '' ? null : goal,
  };
}
