import { AppError } from '../../core/errors.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import { PORTAL_USER } from '../../core/referrals/portal.ts';
import type { Config } from '../../core/settings/config.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import type { Outbox } from '../../sql/mail/outbox.ts';
import {
  decideApplication,
  isOfOtherApplication,
  type LockedApplication,
  lockApplication,
} from '../../sql/portal/applications.ts';
import type { ChangeOrigin } from '../../sql/referrals/enrollments.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import { type ApplicationData, queueEvents } from '../../sql/webhooks/outbox.ts';
import { enroll } from '../referrals/enroll.ts';

/** What mails and links of the portal need. */
export type PortalPlaces = { outbox: Outbox } & Pick<Config, 'appUrl' | 'shortUrl'>;

/** Returns the page of a program's portal. */
export const portalUrl = (appUrl: string, { code }: Pick<Program, 'code'>): string => `${appUrl}/p/${code}`;

const noSuchApplication = () => new AppError('not_found', 'the workspace has no such application');

/**
 * Returns an application that can be decided, locked, and its program.
 *
 * @throws {AppError} `not_found`; `conflict` when it is approved, or rejected a second time
 */
export async function lockUndecided(
  tx: Queryable,
  workspaceId: string,
  id: string,
  decision: 'approve' | 'reject',
): Promise<{ application: LockedApplication; program: Program }> {
  const application = await lockApplication(tx, workspaceId, id);
  if (!application) throw noSuchApplication();
  if (application.status === 'approved')
    throw new AppError('conflict', 'the application is approved; suspend or delete its referrer instead');
  if (application.status === 'rejected' && decision === 'reject')
    throw new AppError('conflict', 'the application is rejected already');
  const program = await programById(tx, workspaceId, application.program_id);
  if (!program) throw new Error(`program ${application.program_id} is gone`);
  return { application, program };
}

/**
 * Approves a locked application: its applicant becomes a referrer of the program, and is told.
 *
 * @param externalUserId null: `portal:` and the id of the application
 * @throws {AppError} `conflict` when another application has the referrer
 */
export async function approveApplication(
  tx: Queryable,
  application: LockedApplication,
  { program, externalUserId }: { program: Program; externalUserId: string | null },
  origin: ChangeOrigin,
  places: PortalPlaces,
): Promise<void> {
  const { id, workspace_id: workspaceId, email, name } = application;
  const { enrollment, address } = await enroll(
    tx,
    workspaceId,
    {
      externalUserId: externalUserId ?? PORTAL_USER + id,
      email,
      name,
      deviceId: null,
      addressHash: null,
      tier: 'free',
      mayChangeTier: false,
      programId: program.id,
      countMade: async () => undefined,
    },
    origin,
  );
  if (await isOfOtherApplication(tx, id, enrollment.id))
    throw new AppError('conflict', 'another application has the referrer with this `external_user_id`');
  await decideApplication(tx, application, enrollment.id, origin.now);
  await queueEvents(tx, workspaceId, [
    {
      type: 'application.approved',
      data: applicationData(application, { status: 'approved', partner_id: enrollment.id }),
    },
  ]);
  await tellApplicant(tx, application, program, places, {
    change: 'approved',
    link: shortUrlOf(places.shortUrl, address),
  });
}

/** Rejects a locked application, and tells its applicant. */
export async function rejectApplication(
  tx: Queryable,
  application: LockedApplication,
  program: Program,
  { now }: ChangeOrigin,
  places: PortalPlaces,
): Promise<void> {
  await decideApplication(tx, application, null, now);
  await queueEvents(tx, application.workspace_id, [
    {
      type: 'application.rejected',
      data: applicationData(application, { status: 'rejected', partner_id: null }),
    },
  ]);
  await tellApplicant(tx, application, program, places, { change: 'rejected', link: null });
}

/** Returns an application as its events show it. */
export function applicationData(
  { id, program_id, created_at }: Pick<LockedApplication, 'id' | 'program_id' | 'created_at'>,
  outcome: Pick<ApplicationData, 'status' | 'partner_id'>,
): ApplicationData {
  return { id, program_id, ...outcome, created_at: created_at.toISOString() };
}

/** Queues a mail to an applicant, in the language of the page. */
export async function tellApplicant(
  tx: Queryable,
  {
    workspace_id: workspaceId,
    email,
    language,
  }: Pick<LockedApplication, 'workspace_id' | 'email' | 'language'>,
  program: Program,
  { outbox, appUrl }: PortalPlaces,
  about: { change: 'received' | 'approved' | 'rejected'; link: string | null },
): Promise<void> {
  const content = {
    kind: 'application',
    program: program.name,
    language,
    portalUrl: portalUrl(appUrl, program),
    ...about,
  } as const;
  await outbox.queue(tx, [{ workspaceId, recipient: email, content }]);
}
