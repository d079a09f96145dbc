import { AppError } from '../../../core/errors.ts';
import { readAll } from '../../../core/faults.ts';
import type { DestinationRules } from '../../../core/links/destinations.ts';
import { generateSlug } from '../../../core/links/slugs.ts';
import { toMajor } from '../../../core/money/money.ts';
import { toCredits } from '../../../core/referrals/credits.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { linkHosts } from '../../../sql/domains/domains.ts';
import { insertDestination, updateDestination } from '../../../sql/links/destinations.ts';
import { claimSlugs } from '../../../sql/links/slugs.ts';
import { groupsHaveAmounts } from '../../../sql/referrals/partner-groups.ts';
import {
  insertProgram,
  lockProgram,
  newProgramId,
  type Program,
  programById,
  programHasCommissions,
  updateProgram,
} from '../../../sql/referrals/programs.ts';
import { insertCodeLink, setForwardPath, updateCodeLink } from '../../../sql/referrals/referral-links.ts';
import { lockWorkspace } from '../../../sql/workspaces/workspaces.ts';
import { refuseHosts } from '../../links/domain-choice.ts';
import { keepPortalTerms } from './portal-terms.ts';
import type { ProgramChange, ProgramRecord } from './schemas.ts';
import { changedSettings, checkNewProgram, checkProgram, defaultSettings } from './settings.ts';

export const noSuchProgram = () => new AppError('not_found', 'the workspace has no such program');

export type NewProgram = ProgramChange & { name: string; destination_url: string };

/**
 * Creates a program: its campaign, its code among the slugs, and the code's link.
 *
 * @throws {AppError} `bad_request`; `conflict` when the code is taken
 */
export async function createProgram(
  tx: Queryable,
  workspaceId: string,
  body: NewProgram,
  rules: DestinationRules & { now: Date },
): Promise<Program> {
  const workspace = await lockWorkspace(tx, workspaceId);
  checkNewProgram(body, new Set(), { ...rules, currency: workspace.currency });
  await refuseOwnDomains(tx, workspaceId, body.destination_url);
  const settings = changedSettings(defaultSettings(generateSlug(), workspace.currency), body);
  const id = newProgramId();
  await claimCode(tx, { code: settings.code, programId: id, workspaceId });
  const destination = await insertDestination(tx, {
    workspace_id: workspaceId,
    name: body.name,
    destination_url: body.destination_url,
    // A program may lead anywhere: an app's sign-up page is often not on the shop's domain.
    external: true,
    tags: [],
    folder_id: null,
  });
  await insertProgram(tx, {
    ...settings,
    id,
    workspaceId,
    destinationId: destination.id,
    now: rules.now,
  });
  const program = await programById(tx, workspaceId, id);
  if (!program) throw new Error(`program ${id} was not inserted`);
  await insertCodeLink(tx, program);
  await keepPortalTerms(tx, program, rules.now);
  return program;
}

/**
 * Changes a program for future events. A replaced code stays reserved. A sent code, even the same, restores its
 * link if it was deleted.
 *
 * @throws {AppError} `not_found`, `bad_request`; `conflict` when the code is taken, or when the currency would
 *   change after commissions were earned
 */
export async function changeProgram(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: ProgramChange,
  rules: DestinationRules & { now: Date },
): Promise<Program> {
  // Locked first, as in a change of its link: the same lock order prevents deadlocks.
  await lockWorkspace(tx, workspaceId);
  const program = await lockProgram(tx, workspaceId, id);
  if (!program) throw noSuchProgram();
  const { settings } = readAll({
    destination: () => checkProgram({ destination_url: change.destination_url }, rules),
    settings: () => changedSettings(program, change),
  });
  await refuseOwnDomains(tx, workspaceId, change.destination_url);
  if (settings.terms.currency !== program.terms.currency && (await programHasCommissions(tx, id))) {
    throw new AppError(
      'conflict',
      `the program has commissions in ${program.terms.currency}; its currency cannot change`,
    );
  }
  if (settings.terms.currency !== program.terms.currency && (await groupsHaveAmounts(tx, id))) {
    throw new AppError(
      'conflict',
      `groups of the program have amounts in ${program.terms.currency}; remove their minimum payouts and fixed rates first`,
    );
  }
  if (change.code !== undefined) {
    await claimCode(tx, { code: settings.code, programId: id, workspaceId });
    await updateCodeLink(tx, program, settings.code);
  }
  await updateProgram(tx, workspaceId, id, settings, rules.now);
  if (settings.portal.deep_links !== program.portal.deep_links)
    await setForwardPath(tx, id, settings.portal.deep_links);
  await updateDestination(tx, workspaceId, program.destination_id, {
    ...(change.name !== undefined && { name: change.name }),
    ...(change.destination_url !== undefined && { destination_url: change.destination_url }),
  });
  const changed = await programById(tx, workspaceId, id);
  if (!changed) throw noSuchProgram();
  await keepPortalTerms(tx, changed, rules.now);
  return changed;
}

/** @throws {AppError} `bad_request` when the URL is on a domain of the workspace: referral links may be there too */
async function refuseOwnDomains(tx: Queryable, workspaceId: string, url: string | undefined): Promise<void> {
  if (url !== undefined) refuseHosts(await linkHosts(tx, workspaceId), [['destination_url', url]]);
}

/** Creates the code's link. It has the program's id; redirects and clicks work as for any link. */
async function claimCode(
  tx: Queryable,
  claim: { code: string; programId: string; workspaceId: string },
): Promise<void> {
  const claimed = await claimSlugs(tx, [
    { slug: claim.code, kind: 'link', targetId: claim.programId, workspaceId: claim.workspaceId },
  ]);
  if (claimed.length === 0) throw new AppError('conflict', `the code ${claim.code} is taken`);
}

/** Returns a program as the API shows it. */
export function programRecord(program: Program): ProgramRecord {
  const { terms } = program;
  return {
    id: program.id,
    name: program.name,
    code: program.code,
    destination_url: program.destination_url,
    status: terms.status,
    credit_enabled: terms.creditEnabled,
    credit_kind: terms.creditKind,
    signup_credit: {
      free: toCredits(terms.signupCredit.free),
      paid: toCredits(terms.signupCredit.paid),
    },
    purchase_credit: toCredits(terms.purchaseCredit),
    referee_credit: toCredits(terms.refereeCredit),
    commission_type: terms.commissionType,
    commission_rate: terms.commissionRate,
    first_sale_only: terms.firstSaleOnly,
    commission_months: terms.commissionMonths,
    hold_days: terms.holdDays,
    levels: terms.levels,
    allow_affiliate_upgrade: program.allow_affiliate_upgrade,
    payout_methods: program.payout_methods,
    min_payout: toMajor(program.min_payout_minor, terms.currency),
    revoke_credits_on_refund: program.revoke_credits_on_refund,
    currency: terms.currency,
    signups_from: terms.signupsFrom,
    max_signups_per_day: terms.maxSignupsPerDay,
    review: terms.review,
    link_parameters: program.link_parameters,
    portal: program.portal,
    created_at: program.created_at.toISOString(),
    updated_at: program.updated_at.toISOString(),
  };
}
