import { Type } from 'typebox';
import { OneOf } from '../schemas.ts';
import { ApiRefusal, type CallApi } from './calls.ts';
import { filled, MOST_ROWS, readTool, rowsSentence, type Tool, writeTool } from './tool.ts';

/** Tools for referral programs. */

const Uuid = (description: string) => Type.String({ format: 'uuid', description });
const ProgramId = Type.Optional(Uuid('The default program of the workspace by default.'));
const UserId = Type.String({ minLength: 1, maxLength: 255, description: 'Your id of the user.' });

const balancesOf = async (api: CallApi, query: Record<string, string>) =>
  (await api<{ balances: object[] }>('GET', '/ledger/balances', { query })).balances.map(filled);

/** Programs whose balances are read, each by a call. */
const MOST_PROGRAMS = 20;

const listPrograms = readTool({
  name: 'list_programs',
  title: 'List referral programs',
  description:
    'Referral programs with their terms, and the balances of their ledgers: what is pending, owed, and paid.',
  needs: ['GET /programs', 'GET /ledger/balances'],
  input: Type.Object({}),
  async run(api) {
    const { programs } = await api<{ programs: { id: string }[] }>('GET', '/programs');
    const shown = programs.slice(0, MOST_PROGRAMS);
    const rows: object[] = [];
    for (const program of shown) {
      rows.push({ ...filled(program), balances: await balancesOf(api, { program_id: program.id }) });
    }
    const more = shown.length < programs.length ? `${programs.length} in all` : null;
    return { summary: rowsSentence(rows.length, 'program', more), untrusted: rows };
  },
});

const RECENT_CREDITS = 5;

type Enrollment = { partner_id: string; program_id: string; external_user_id: string; email: string | null };

const getReferrer = readTool({
  name: 'get_referrer',
  title: 'Get a referrer',
  description:
    'Referrers by an id, an email, or a part of their name, each with the balances of their rewards and newest credits.',
  needs: ['GET /enrollments', 'GET /ledger/balances', 'GET /credits'],
  input: Type.Object({
    search: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Your id of the user, an email, or a name.',
    }),
    program_id: ProgramId,
  }),
  async run(api, { search, program_id }) {
    const query = { search, program_id, limit: 5 };
    const page = await api<{ enrollments: Enrollment[]; next_cursor: string | null }>('GET', '/enrollments', {
      query,
    });
    const rows: object[] = [];
    for (const one of page.enrollments) {
      const balances = await balancesOf(api, { partner_id: one.partner_id });
      const query = { partner_id: one.partner_id, status: 'all', limit: RECENT_CREDITS };
      const { grants } = await api<{ grants: object[] }>('GET', '/credits', { query });
      rows.push({ ...filled(one), balances, credits: grants.map(filled) });
    }
    const more = page.next_cursor && 'search for a longer text';
    return { summary: rowsSentence(rows.length, 'referrer', more), untrusted: rows };
  },
});

const listPayouts = readTool({
  name: 'list_payouts',
  title: 'List payouts',
  description: 'Payout files, newest first, with their totals and whether they are paid.',
  needs: ['GET /payouts'],
  input: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_ROWS, default: 20, description: 'Most payouts.' }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 100, description: 'The `next_cursor` of the page before.' }),
    ),
  }),
  async run(api, query) {
    const page = await api<{ payouts: object[]; next_cursor: string | null }>('GET', '/payouts', { query });
    const more = page.next_cursor && `the next begin with \`cursor\` ${page.next_cursor}`;
    return {
      summary: rowsSentence(page.payouts.length, 'payout', more),
      untrusted: page.payouts.map(filled),
    };
  },
});

const createCoupon = writeTool({
  name: 'create_coupon',
  title: 'Create a coupon code',
  description: 'Gives a referrer a coupon code: orders with it are attributed to them.',
  needs: ['POST /coupons'],
  input: Type.Object({
    code: Type.String({ minLength: 1, maxLength: 100 }),
    external_user_id: UserId,
    program_id: ProgramId,
  }),
  done: 'The coupon is created.',
  async preview(_api, body) {
    return {
      preview: `Creates the coupon code ${JSON.stringify(body.code)} for the referrer ${JSON.stringify(body.external_user_id)}${inProgram(body.program_id)}. Orders with it are attributed to them.`,
      untrusted: null,
      write: { method: 'POST', path: '/coupons', body },
    };
  },
});

const inProgram = (id: string | undefined) => (id === undefined ? '' : ` in the program ${id}`);

/** Longest text that the list of referrers is searched for. */
const LONGEST_SEARCH = 200;

/** Returns the referrer with exactly this id, in any program, or null. */
async function referrerOf(api: CallApi, userId: string): Promise<Enrollment | null> {
  let cursor: string | undefined;
  for (;;) {
    const query = { search: userId.slice(0, LONGEST_SEARCH), limit: 500, cursor };
    const page = await api<{ enrollments: Enrollment[]; next_cursor: string | null }>('GET', '/enrollments', {
      query,
    });
    const found = page.enrollments.find((one) => one.external_user_id === userId);
    if (found || page.next_cursor === null) return found ?? null;
    cursor = page.next_cursor;
  }
}

const enrollReferrer = writeTool({
  name: 'enroll_referrer',
  title: 'Enroll a referrer',
  description:
    'Enrolls a user in a referral program, with a referral link. Someone who is enrolled already stays so.',
  needs: ['POST /referrals/enroll', 'GET /enrollments'],
  input: Type.Object({
    email: Type.String({ maxLength: 254 }),
    external_user_id: UserId,
    tier: OneOf(['free', 'paid'], { description: 'Of the user in your product.' }),
    name: Type.Optional(Type.String({ maxLength: 100 })),
    program_id: ProgramId,
  }),
  done: 'The referrer is enrolled.',
  async preview(api, body) {
    const known = await referrerOf(api, body.external_user_id);
    const who = `${JSON.stringify(body.external_user_id)} (${JSON.stringify(body.email)}, tier ${body.tier})`;
    return {
      preview:
        known === null
          ? `Enrolls the user ${who}${inProgram(body.program_id)}, and makes a referral link for them.`
          : `The user ${who} is enrolled already in the program ${known.program_id}, and stays in it. Updates what is known of them, and returns their referral link.`,
      untrusted: known === null ? null : [filled(known)],
      write: { method: 'POST', path: '/referrals/enroll', body },
    };
  },
});

type Grant = { id: number; amount: number; status: string };

const revokeCredit = writeTool({
  name: 'revoke_credit',
  title: 'Revoke a credit',
  description: 'Takes a credit of a referrer back, for good, with a reason for the ledger.',
  needs: ['POST /credits/:id/revoke', 'GET /credits'],
  input: Type.Object({
    credit_id: Type.Integer({ minimum: 1 }),
    reason: Type.String({ minLength: 1, maxLength: 500 }),
  }),
  done: 'The credit is revoked.',
  async preview(api, { credit_id: id, reason }) {
    // Grants that can be revoked are listed by their numbers, the largest first.
    const query = { status: 'earned', limit: 1, cursor: id + 1 };
    const { grants } = await api<{ grants: Grant[] }>('GET', '/credits', { query });
    const grant = grants.find((one) => one.id === id);
    if (!grant) {
      const message = `no credit with the id ${id} can be revoked: it is delivered, revoked, or unknown`;
      throw new ApiRefusal(404, { code: 'not_found', message });
    }
    return {
      preview: `Revokes the credit ${id} of ${grant.amount} credits, whose status is ${grant.status}, for good. The reason is ${JSON.stringify(reason)}.`,
      untrusted: filled(grant),
      write: { method: 'POST', path: `/credits/${id}/revoke`, body: { reason } },
    };
  },
});

export const REFERRAL_READ_TOOLS: readonly Tool[] = [listPrograms, getReferrer, listPayouts];
export const REFERRAL_WRITE_TOOLS: readonly Tool[] = [createCoupon, enrollReferrer, revokeCredit];
