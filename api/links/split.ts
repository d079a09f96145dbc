import { badRequest } from '../../core/errors.ts';
import type { LinkSettings } from '../../sql/links/link-settings.ts';

type SplitSettings = Pick<LinkSettings, 'split' | 'split_ends_at' | 'split_goal'>;

/** Returns the settings with the end and the goal cleared along with their split, unless they are sent too. */
export function withoutSplit<T extends Partial<SplitSettings>>(settings: T): T {
  if (settings.split !== null) return settings;
  const { split_ends_at, split_goal } = settings;
  return { ...settings, split_ends_at: split_ends_at ?? null, split_goal: split_goal ?? null };
}

/**
 * Requires that a split which ends has a goal, and an end a split.
 *
 * @param link the settings as the link will have them
 * @throws {AppError} `bad_request` that names the field
 */
export function checkSplit({ split, split_ends_at, split_goal }: SplitSettings): void {
  if (split_ends_at === null) return;
  if (split === null) throw badRequest('split_ends_at', 'is allowed only with a `split`');
  if (split_goal === null) throw badRequest('split_goal', 'is required with `split_ends_at`');
}

/** Returns a change of a link that resets the winner, if it changes the split. */
export function restartedSplit<T extends Partial<SplitSettings>>(change: T): T & { split_winner?: null } {
  const { split, split_ends_at, split_goal } = change;
  const isChanged = split !== undefined || split_ends_at !== undefined || split_goal !== undefined;
  return isChanged ? { ...withoutSplit(change), split_winner: null } : change;
}
