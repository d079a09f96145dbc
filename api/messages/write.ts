import { AppError, badRequest } from '../../core/errors.ts';
import { checkAll } from '../../core/faults.ts';
import { uuidv7 } from '../../core/ids.ts';
import { DEFAULT_LANGUAGE, type Language, localeOf } from '../../core/languages/languages.ts';
import { shortUrlOf } from '../../core/links/short-urls.ts';
import type { MailContent } from '../../core/mail/contents.ts';
import { plainName } from '../../core/mail/plain-name.ts';
import { toMajor } from '../../core/money/money.ts';
import { moneyFormat } from '../../core/money/money-format.ts';
import { type MessageValues, mergedText, unknownField } from '../../core/referrals/message-fields.ts';
import { NO_OWN_TERMS, type OwnTerms, programWith } from '../../core/referrals/terms.ts';
import { normalizeEmail } from '../../core/tracking/emails.ts';
import type { Queryable } from '../../sql/database/pool.ts';
import { type Addressed, type Addressee, addressees, type LeftOut } from '../../sql/portal/messages.ts';
import { groupById, termsOfGroup, withOwnRate } from '../../sql/referrals/partner-groups.ts';
import { type Program, programById } from '../../sql/referrals/programs.ts';
import type { Workspace } from '../../sql/workspaces/workspaces.ts';
import { portalUrl } from '../applications/decide.ts';
import { noSuchGroup } from '../referrals/groups/service.ts';
import { noSuchProgram } from '../referrals/programs/service.ts';
import { type MessageBody, MOST_RECIPIENTS } from './schemas.ts';

/** The mail of one recipient. */
export type MessageMail = {
  mailId: string;
  enrollmentId: string;
  /** As addresses identify a person. */
  email: string;
  content: Extract<MailContent, { kind: 'message' }>;
};

export type Written = { addressed: Addressed; mails: MessageMail[]; leftOut: LeftOut };

/** Fields that say whom a message is for. */
const AUDIENCES = ['group_id', 'program_id', 'partner_ids'] as const;

type Origins = { appUrl: string; shortUrl: string };

/**
 * Writes a message to each referrer whom it is for.
 *
 * @throws {AppError} `bad_request` that names the field; `not_found`
 */
export async function writeMessage(
  tx: Queryable,
  workspace: Workspace,
  body: MessageBody,
  origins: Origins,
): Promise<Written> {
  checkMessage(body, new Set());
  const addressed = await readAddressed(tx, workspace.id, body);
  const found = await addressees(tx, workspace.id, addressed, MOST_RECIPIENTS + 1);
  if (found.length > MOST_RECIPIENTS) throw badRequest('program_id', tooMany());
  const missing = addressed.partnerIds?.find((id) => !found.some((one) => one.id === id));
  if (missing !== undefined) throw new AppError('not_found', `the workspace has no referrer ${missing}`);
  const leftOut: LeftOut = { suspended: 0, no_email: 0, unsubscribed: 0 };
  const mails: MessageMail[] = [];
  const programs = new Map<string, Program>();
  const groups = new Map<string, OwnTerms>();
  /** A group is of one program, and many recipients are in it. */
  const groupTermsOf = async ({ group_id: id, program_id: programId }: Addressee): Promise<OwnTerms> => {
    if (id === null) return NO_OWN_TERMS;
    const terms = groups.get(id) ?? (await termsOfGroup(tx, id, programId));
    groups.set(id, terms);
    return terms;
  };
  for (const one of found) {
    const reason = reasonToLeaveOut(one);
    if (reason !== null || one.email === null) {
      leftOut[reason ?? 'no_email'] += 1;
      continue;
    }
    const program = programs.get(one.program_id) ?? (await programById(tx, workspace.id, one.program_id));
    if (!program) throw new Error(`program ${one.program_id} is gone`);
    programs.set(program.id, program);
    const language = one.language ?? DEFAULT_LANGUAGE;
    const paying = programWith(program, withOwnRate(one, await groupTermsOf(one)));
    const values = valuesOf(one, paying, workspace.name, { ...origins, language });
    const content = {
      kind: 'message' as const,
      subject: mergedText(body.subject, values),
      text: mergedText(body.text, values),
      program: program.name,
      language,
    };
    mails.push({ mailId: uuidv7(), enrollmentId: one.id, email: normalizeEmail(one.email), content });
  }
  return { addressed, mails, leftOut };
}

const tooMany = () => `must be of at most ${MOST_RECIPIENTS} referrers; write to groups of them`;

/**
 * Checks what the schema of a message does not express.
 *
 * @param faulty fields that the schema refuses, which `body` leaves out
 * @throws {AppError} `bad_request` that names each fault
 */
export function checkMessage(body: Partial<MessageBody>, faulty: ReadonlySet<string>): void {
  checkAll([
    () => requireKnownFields('subject', body.subject ?? ''),
    () => requireKnownFields('text', body.text ?? ''),
    () => {
      const given = AUDIENCES.filter((name) => body[name] !== undefined || faulty.has(name));
      if (given.length !== 1)
        throw badRequest('group_id', 'must be given, or `program_id`, or `partner_ids`, and no two of them');
    },
  ]);
}

function requireKnownFields(path: 'subject' | 'text', text: string): void {
  const unknown = unknownField(text);
  if (!unknown) return;
  const more = unknown.near === null ? {} : { hint: `did you mean \`{${unknown.near}}\`?` };
  throw badRequest(path, `has the unknown field \`{${unknown.name}}\``, more);
}

async function readAddressed(tx: Queryable, workspaceId: string, body: MessageBody): Promise<Addressed> {
  const { group_id: groupId = null, program_id: programId = null, partner_ids: partnerIds = null } = body;
  if (groupId !== null && !(await groupById(tx, workspaceId, groupId))) throw noSuchGroup();
  if (programId !== null && !(await programById(tx, workspaceId, programId))) throw noSuchProgram();
  return { groupId, programId, partnerIds };
}

function reasonToLeaveOut({ status, email, is_unsubscribed }: Addressee): keyof LeftOut | null {
  if (status === 'suspended') return 'suspended';
  if (email === null || email.trim() === '') return 'no_email';
  return is_unsubscribed ? 'unsubscribed' : null;
}

function valuesOf(
  { name, address }: Addressee,
  program: Program,
  workspace: string,
  { appUrl, shortUrl, language }: Origins & { language: Language },
): MessageValues {
  const { terms, min_payout_minor: least } = program;
  const locale = localeOf(language);
  const money = (amount: number) => moneyFormat(terms.currency, locale).format(amount);
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 4 });
  return {
    // A name that a person typed must be no link.
    name: name === null ? null : plainName(name),
    link: address && shortUrlOf(shortUrl, address),
    program: program.name,
    rate:
      terms.commissionType === 'flat'
        ? money(terms.commissionRate)
        : percent.format(terms.commissionRate / 100),
    hold_days: new Intl.NumberFormat(locale).format(terms.holdDays),
    min_payout: money(toMajor(least, terms.currency)),
    portal: portalUrl(appUrl, program),
    workspace,
  };
}
