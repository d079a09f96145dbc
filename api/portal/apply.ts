import { AppError, badRequest } from '../../core/errors.ts';
import { readEach } from '../../core/faults.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Language } from '../../core/languages/languages.ts';
import type { Portal } from '../../core/referrals/portal.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { acceptTerms } from '../../sql/portal/accepted-terms.ts';
import { insertApplication, lockApplication } from '../../sql/portal/applications.ts';
import { queueEvents } from '../../sql/webhooks/outbox.ts';
import {
  applicationData,
  approveApplication,
  type PortalPlaces,
  tellApplicant,
} from '../applications/decide.ts';
import type { OfPortal } from './portal-of.ts';

/**
 * Returns the answers to the program's questions. Others are dropped.
 *
 * @throws {AppError} `bad_request` that names every missing one that is required
 */
export function readAnswers(
  { fields }: Portal,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const answers: Record<string, string> = {};
  readEach(fields, ({ name, required }) => {
    const answer = Object.hasOwn(given, name) ? (given[name]?.trim() ?? '') : '';
    if (answer !== '') answers[name] = answer;
    else if (required) throw badRequest(`answers.${name}`, 'is required');
  });
  return answers;
}

/**
 * Returns the version of the terms that an applicant accepts; null: the program has none.
 *
 * @throws {AppError} `bad_request` without a version; `conflict` when the terms have changed since the page was loaded
 */
export function readTerms({ terms_version }: Portal, accepted: string | undefined): string | null {
  if (terms_version === null) return null;
  if (accepted === undefined) throw badRequest('terms_version', 'is required: the program has terms');
  if (accepted !== terms_version) throw new AppError('conflict', 'the terms have changed; read them again');
  return terms_version;
}

/** Who the history of a referrer names, where a program approves at once. */
const BY_PORTAL = 'portal';

/**
 * Stores an application, and approves it at once where the program says so. Of an address that has applied before
 * nothing changes, and it gets no mail: anyone may send the address of anyone.
 */
export async function applyToProgram(
  tx: Queryable,
  { program, workspace }: OfPortal,
  given: {
    email: string;
    name: string;
    answers: Record<string, string>;
    language: Language;
    /** Accepted version; null: the program has no terms. */
    terms: string | null;
  },
  places: PortalPlaces,
): Promise<void> {
  const now = new Date();
  const id = uuidv7();
  const whose = { workspaceId: workspace.id, programId: program.id };
  const { terms, ...told } = given;
  if (!(await insertApplication(tx, { ...told, ...whose, id, now }))) return;
  if (terms !== null) await acceptTerms(tx, { ...whose, applicationId: id, enrollmentId: null }, terms, now);
  const application = await lockApplication(tx, workspace.id, id);
  if (!application) throw new Error(`application ${id} was not inserted`);
  await queueEvents(tx, workspace.id, [
    {
      type: 'application.created',
      data: applicationData(application, { status: 'pending', partner_id: null }),
    },
  ]);
  if (program.portal.review === 'none') {
    const origin = { now, by: BY_PORTAL };
    await approveApplication(tx, application, { program, externalUserId: null }, origin, places);
  } else {
    await tellApplicant(tx, application, program, places, { change: 'received', link: null });
  }
}
