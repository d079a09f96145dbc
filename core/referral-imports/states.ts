import { RowProblem, type SourceRow, yesNo } from '../link-imports/source-row.ts';
import { fieldKey } from './field-key.ts';
import type { Kind } from './format.ts';
import { readInstant } from './values.ts';

/**
 * What a program says of a referrer or a commission in a column of its own, such as `payout: No`, `is_refunded`, or
 * `banned_at`. The same words are read for all programs: what was over there must not be paid here.
 */

/** Referrers who may earn. */
const LIVE = new Set(
  'active approved enabled confirmed unconfirmed accepted joined verified live ok invited yes true 1'.split(
    ' ',
  ),
);
/** Referrers who may not earn, or not yet. */
const OFF = new Set(
  (
    'suspended disabled inactive deactivated banned blocked rejected declined denied disapproved archived deleted ' +
    'removed terminated suspicious fraud fraudulent closed canceled cancelled paused expired left pending applied ' +
    'waiting inreview unapproved no false 0'
  ).split(' '),
);

/** Words in the names of columns: one that holds, or one that does not, ends the row. */
const ENDS: Record<Kind, { where: RegExp; unless: RegExp | null }> = {
  partners: {
    where:
      /^(?:is|was)?(?:suspended|disabled|deactivated|banned|blocked|rejected|declined|denied|disapproved|archived|deleted|removed|terminated|suspicious|fraud|fraudulent)(?:at|on|date)?$/,
    unless: /^(?:is)?(?:active|approved|enabled)$/,
  },
  customers: { where: /(?!)/, unless: null },
  commissions: {
    where:
      /^(?:is|was)?(?:paid|paidout|payout|refunded|void|voided|reversed|canceled|cancelled|rejected|declined|denied|disapproved|deleted|fraud|fraudulent|chargeback|chargedback)(?:at|on|date)?$/,
    unless: null,
  },
};

/** Texts that say no where a date or yes would stand. */
const NOT = /^(?:-+|none|null|nil|n\/?a|never|not? .+|un[a-z]+|pending|open|due|0000-00-00.*)$/i;

/** Returns whether a column says whether the rows of a kind still count. */
export function isStateColumn(kind: Kind, name: string): boolean {
  const { where, unless } = ENDS[kind];
  const key = fieldKey(name);
  return where.test(key) || (unless?.test(key) ?? false);
}

/**
 * Returns whether a column of a row says that it is over, whatever its status says.
 *
 * @throws {RowProblem} for a text that is neither yes nor no nor a date
 */
export function isOver(kind: Kind, { values }: SourceRow): boolean {
  const { where, unless } = ENDS[kind];
  for (const [name, value] of Object.entries(values)) {
    const text = String(value ?? '').trim();
    const key = fieldKey(name);
    if (text === '') continue;
    if (where.test(key) && holds(name, text)) return true;
    if (unless?.test(key) && !holds(name, text)) return true;
  }
  return false;
}

/** @throws {RowProblem} */
function holds(name: string, text: string): boolean {
  const answer = yesNo(text);
  if (answer !== null) return answer;
  if (NOT.test(text)) return false;
  if (fieldKey(name).includes(fieldKey(text)) || !('problem' in readInstant(text))) return true;
  throw new RowProblem(name, 'must be yes or no, or a date');
}

/**
 * Returns whether a referrer of this state may not earn.
 *
 * @returns null for a state that is not known
 */
export function isSuspended(state: string | null): boolean | null {
  const key = fieldKey(state ?? '');
  if (key === '' || LIVE.has(key)) return false;
  return OFF.has(key) ? true : null;
}

/** The states that are known, for an error. */
export const KNOWN_STATES = 'must be a known state, such as active, pending, or suspended';
