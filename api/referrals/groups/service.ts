import { AppError, badRequest } from '../../../core/errors.ts';
import { readAll } from '../../../core/faults.ts';
import { toMajor } from '../../../core/money/money.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import {
  countGroups,
  type GroupSettings,
  groupById,
  insertGroup,
  lockGroup,
  type PartnerGroup,
  updateGroup,
} from '../../../sql/referrals/partner-groups.ts';
import { lockProgram, type Program } from '../../../sql/referrals/programs.ts';
import { noSuchProgram } from '../programs/service.ts';
import { readMoney, requireRate } from '../programs/settings.ts';
import { type GroupChange, type GroupRecord, MOST_GROUPS } from './schemas.ts';

export const noSuchGroup = () => new AppError('not_found', 'the workspace has no such partner group');

const nameTaken = (name: string) => new AppError('conflict', `the program has another group named ${name}`);

const PROGRAMS_TERMS: Omit<GroupSettings, 'name'> = {
  commission_type: null,
  commission_rate: null,
  hold_days: null,
  min_payout_minor: null,
};

/** @throws {AppError} `not_found`; `bad_request` that names the field; `conflict`: the name, or too many groups */
export async function createGroup(
  tx: Queryable,
  workspaceId: string,
  body: GroupChange & { program_id: string; name: string },
  now: Date,
): Promise<string> {
  const program = await lockProgram(tx, workspaceId, body.program_id);
  if (!program) throw noSuchProgram();
  if ((await countGroups(tx, program.id)) >= MOST_GROUPS)
    throw new AppError('conflict', `the program has ${MOST_GROUPS} groups; delete one first`);
  const settings = settingsOf({ name: body.name, ...PROGRAMS_TERMS }, body, program);
  const id = await insertGroup(tx, { ...settings, workspaceId, programId: program.id, now });
  if (id === null) throw nameTaken(settings.name);
  return id;
}

/** Changes a group for later events. @throws {AppError} as {@link createGroup} */
export async function changeGroup(
  tx: Queryable,
  workspaceId: string,
  { id, change }: { id: string; change: GroupChange },
  now: Date,
): Promise<PartnerGroup> {
  const known = await groupById(tx, workspaceId, id);
  // The program's lock keeps its currency, and other changes of its groups wait.
  const program = known && (await lockProgram(tx, workspaceId, known.program_id));
  const present = program && (await lockGroup(tx, workspaceId, id));
  if (!present) throw noSuchGroup();
  const settings = settingsOf(present, change, program);
  if (!(await updateGroup(tx, present, settings, now))) throw nameTaken(settings.name);
  const changed = await groupById(tx, workspaceId, id);
  if (!changed) throw noSuchGroup();
  return changed;
}

function settingsOf(known: GroupSettings, change: GroupChange, { terms }: Program): GroupSettings {
  const {
    min_payout: least,
    hold_days: days,
    commission_rate: givenRate,
    commission_type: givenType,
  } = change;
  const rate = givenRate === undefined ? known.commission_rate : givenRate;
  const type = rate === null ? null : (givenType ?? known.commission_type ?? terms.commissionType);
  const name = change.name?.trim() ?? known.name;
  const { minPayout } = readAll({
    type() {
      if (rate === null && givenType !== undefined && givenType !== null)
        throw badRequest('commission_type', 'must come with `commission_rate`');
    },
    rate: () => rate !== null && type !== null && requireRate('commission_rate', type, rate, terms.currency),
    name() {
      if (name === '') throw badRequest('name', 'must not be blank');
    },
    minPayout: () =>
      least === undefined
        ? known.min_payout_minor
        : least === null
          ? null
          : readMoney('min_payout', least, terms.currency),
  });
  return {
    name,
    commission_type: type,
    commission_rate: rate,
    hold_days: days === undefined ? known.hold_days : days,
    min_payout_minor: minPayout,
  };
}

/** Returns a group as the API shows it. */
export function groupRecord({
  workspace_id: _,
  min_payout_minor: least,
  ...group
}: PartnerGroup): GroupRecord {
  return {
    ...group,
    min_payout: least === null ? null : toMajor(least, group.currency),
    created_at: group.created_at.toISOString(),
    updated_at: group.updated_at.toISOString(),
  };
}
