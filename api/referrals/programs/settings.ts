import { badRequest } from '../../../core/errors.ts';
import { checkAll, readEach } from '../../../core/faults.ts';
import { type DestinationRules, requireDestination } from '../../../core/links/destinations.ts';
import { generateSlug, programCodeProblem } from '../../../core/links/slugs.ts';
import { isCurrency, MoneyError, toMajor, toMinor } from '../../../core/money/money.ts';
import { toHundredths } from '../../../core/referrals/credits.ts';
import { LINK_PARAMETERS } from '../../../core/referrals/link-parameters.ts';
import { CLOSED_PORTAL } from '../../../core/referrals/portal.ts';
import type { CommissionType } from '../../../core/referrals/terms.ts';
import type { ProgramSettings } from '../../../sql/referrals/programs.ts';
import { checkFields, checkPortal, requireTermsUrl } from './portal-settings.ts';
import type { ProgramBody, ProgramChange } from './schemas.ts';

/** Parameters of Hoplog's own. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['_vid', 'hoplog_test']);

/** Returns the default settings of a new program. */
export function defaultSettings(code: string, currency: string): ProgramSettings {
  return {
    code,
    terms: {
      status: 'active',
      creditEnabled: false,
      creditKind: 'credits',
      signupCredit: { free: 0, paid: 0 },
      purchaseCredit: 0,
      refereeCredit: 0,
      commissionType: 'percent',
      commissionRate: 0,
      levels: [],
      firstSaleOnly: false,
      commissionMonths: null,
      holdDays: 30,
      currency,
      signupsFrom: 'any',
      maxSignupsPerDay: null,
      review: 'none',
    },
    allow_affiliate_upgrade: false,
    payout_methods: ['paypal'],
    min_payout_minor: 0,
    revoke_credits_on_refund: true,
    link_parameters: [...LINK_PARAMETERS],
    portal: CLOSED_PORTAL,
  };
}

/**
 * Applies a change to settings and validates the result as a whole: a rate that is valid as a percentage may be
 * invalid as an amount.
 *
 * @throws {AppError} `bad_request` that names every fault
 */
export function changedSettings(current: ProgramSettings, change: ProgramChange): ProgramSettings {
  const { terms } = current;
  checkAll([
    () => checkProgram(change),
    () => readCurrency(change.currency),
    () => isCurrency(change.currency ?? terms.currency) && checkMoney(current, change),
    () => checkPortal(current.portal, change.portal ?? {}),
  ]);
  const currency = readCurrency(change.currency) ?? terms.currency;
  const minPayout = change.min_payout ?? toMajor(current.min_payout_minor, terms.currency);
  const settings: ProgramSettings = {
    code: change.code ?? current.code,
    terms: {
      status: change.status ?? terms.status,
      creditEnabled: change.credit_enabled ?? terms.creditEnabled,
      creditKind: change.credit_kind ?? terms.creditKind,
      signupCredit: {
        free: readCredits('signup_credit.free', change.signup_credit?.free) ?? terms.signupCredit.free,
        paid: readCredits('signup_credit.paid', change.signup_credit?.paid) ?? terms.signupCredit.paid,
      },
      purchaseCredit: readCredits('purchase_credit', change.purchase_credit) ?? terms.purchaseCredit,
      refereeCredit: readCredits('referee_credit', change.referee_credit) ?? terms.refereeCredit,
      commissionType: change.commission_type ?? terms.commissionType,
      commissionRate: change.commission_rate ?? terms.commissionRate,
      levels: change.levels ?? terms.levels,
      firstSaleOnly: change.first_sale_only ?? terms.firstSaleOnly,
      commissionMonths:
        change.commission_months === undefined ? terms.commissionMonths : change.commission_months,
      holdDays: change.hold_days ?? terms.holdDays,
      currency,
      signupsFrom: change.signups_from ?? terms.signupsFrom,
      maxSignupsPerDay:
        change.max_signups_per_day === undefined ? terms.maxSignupsPerDay : change.max_signups_per_day,
      review: change.review ?? terms.review,
    },
    allow_affiliate_upgrade: change.allow_affiliate_upgrade ?? current.allow_affiliate_upgrade,
    payout_methods: change.payout_methods ?? current.payout_methods,
    min_payout_minor: readMoney('min_payout', minPayout, currency),
    revoke_credits_on_refund: change.revoke_credits_on_refund ?? current.revoke_credits_on_refund,
    link_parameters: change.link_parameters ?? current.link_parameters,
    portal: { ...current.portal, ...change.portal },
  };
  return settings;
}

/**
 * Checks a create or change body for what does not depend on the program.
 *
 * @param rules null: the destination is checked elsewhere
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkProgram(change: Partial<ProgramBody>, rules: DestinationRules | null = null): void {
  const { destination_url: url, signup_credit, link_parameters = [], code } = change;
  checkAll([
    () => url !== undefined && rules && requireProgramDestination(url, rules),
    () => code !== undefined && requireCode('code', code),
    () => readCredits('signup_credit.free', signup_credit?.free),
    () => readCredits('signup_credit.paid', signup_credit?.paid),
    () => readCredits('purchase_credit', change.purchase_credit),
    () => readCredits('referee_credit', change.referee_credit),
    () =>
      readEach(link_parameters, (name, index) => {
        if (OWN_PARAMETERS.has(name))
          throw badRequest(`link_parameters.${index}`, `must not be ${name}, which Hoplog uses`);
      }),
    () => checkFields(change.portal?.fields ?? []),
    () =>
      (change.portal?.terms_url ?? null) !== null &&
      requireTermsUrl('portal.terms_url', change.portal?.terms_url ?? ''),
  ]);
}

/**
 * Checks the create body of a program.
 *
 * @param faulty fields that are left out because of a fault
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkNewProgram(
  body: Partial<ProgramBody>,
  faulty: ReadonlySet<string>,
  rules: DestinationRules & { currency: string },
): void {
  const usual = defaultSettings(generateSlug(), rules.currency);
  const currency = body.currency ?? rules.currency;
  const isMoneyKnown = !faulty.has('currency') && !faulty.has('commission_type') && isCurrency(currency);
  checkAll([
    () => checkProgram(body, rules),
    () => readCurrency(body.currency),
    () => isMoneyKnown && checkMoney(usual, body),
    () => checkPortal(CLOSED_PORTAL, body.portal ?? {}),
  ]);
}

/** Checks rates and amounts, which are valid together. The currency is one. */
function checkMoney({ terms, min_payout_minor }: ProgramSettings, change: ProgramChange): void {
  const currency = (change.currency ?? terms.currency).toLowerCase();
  const type = change.commission_type ?? terms.commissionType;
  checkAll([
    () => requireRate('commission_rate', type, change.commission_rate ?? terms.commissionRate, currency),
    () =>
      readEach(change.levels ?? terms.levels, (rate, index) =>
        requireRate(`levels.${index}`, type, rate, currency),
      ),
    () => readMoney('min_payout', change.min_payout ?? toMajor(min_payout_minor, terms.currency), currency),
  ]);
}

/**
 * Validates a program's destination. Its links add `ref` and `_vid` to the query; existing parameters of these
 * names would override them.
 *
 * @throws {AppError} `bad_request`
 */
function requireProgramDestination(text: string, rules: DestinationRules): void {
  requireRoomForReferral('destination_url', requireDestination('destination_url', text, rules));
}

/**
 * Requires that a valid destination has no query parameter of referral links.
 *
 * @param path name of the field
 * @throws {AppError} `bad_request`
 */
export function requireRoomForReferral(path: string, url: URL): void {
  for (const name of ['ref', '_vid']) {
    if (url.searchParams.has(name)) {
      throw badRequest(path, `must not have the query parameter ${name}: referral links add it`);
    }
  }
}

/**
 * @param path name of the field
 * @throws {AppError} `bad_request` when the code is malformed or reserved
 */
export function requireCode(path: string, code: string): void {
  const problem = programCodeProblem(code);
  if (problem === 'reserved') throw badRequest(path, 'must not be a reserved name');
  if (problem) throw badRequest(path, 'must be 3 to 40 characters of A-Z a-z 0-9 - _');
}

/**
 * @param path name of the field
 * @throws {AppError} `bad_request` when the rate is more than 100 percent, or no amount of the currency when flat
 */
export function requireRate(path: string, type: CommissionType, rate: number, currency: string): void {
  if (type === 'flat') {
    readMoney(path, rate, currency);
  } else if (rate > 100) {
    throw badRequest(path, 'must be at most 100 percent');
  }
}

function readCredits(path: string, credits: number | undefined): number | undefined {
  if (credits === undefined) return undefined;
  const hundredths = toHundredths(credits);
  if (hundredths === null) throw badRequest(path, 'must have at most two decimals');
  return hundredths;
}

function readCurrency(text: string | undefined): string | undefined {
  if (text !== undefined && !isCurrency(text)) throw badRequest('currency', 'must be an ISO 4217 code');
  return text?.toLowerCase();
}

/** @throws {AppError} `bad_request` when it is not an amount of the currency. Returns minor units. */
export function readMoney(path: string, major: number, currency: string): number {
  try {
    return toMinor(major, currency);
  } catch (error) {
    if (error instanceof MoneyError) throw badRequest(path, `must be an amount of money: ${error.message}`);
    throw error;
  }
}
