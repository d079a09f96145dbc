import { providerOfCustomer } from '../connections/payment-parts.ts';
import { PROVIDERS, type Provider } from '../connections/providers.ts';
import { RowProblem, type SourceRow } from '../link-imports/source-row.ts';
import { listOf, slugOfUrl } from '../link-imports/values.ts';
import { isCurrency, MoneyError, roundToMinor } from '../money/money.ts';
import { LINK_PARAMETERS } from '../referrals/link-parameters.ts';
import { isEmail, normalizeEmail } from '../tracking/emails.ts';
import { fieldKey } from './field-key.ts';
import type { Field, Kind, ReferralFormat } from './format.ts';
import { isOver, isSuspended, KNOWN_STATES } from './states.ts';
import { readDecimal, readInstant } from './values.ts';

/** Identifies the referrer of a row: the first known value decides. */
export type PartnerRef = { id: string | null; email: string | null; code: string | null };

export type PartnerRecord = {
  ref: PartnerRef;
  /** The id in the merchant's product; null: not in the file. */
  userId: string | null;
  name: string | null;
  /** Old codes, the first one first. */
  codes: string[];
  coupons: string[];
  payout: { method: 'paypal' | 'wise'; email: string } | null;
  isSuspended: boolean;
};

export type CustomerRecord = {
  partner: PartnerRef;
  /** The id in the merchant's product, or the one at its old program when the product's is unknown. */
  userId: { of: 'product' | 'program'; id: string };
  email: string | null;
  createdAt: Date | null;
  /** Ids of the customer at billing providers. */
  payers: { provider: Provider; customer: string }[];
};

export type CommissionRecord = {
  partner: PartnerRef;
  id: string | null;
  amountMinor: number;
  currency: string;
  createdAt: Date | null;
  /** Null: eligible at once. */
  eligibleAt: Date | 'after hold' | null;
};

/** Mistakes of one row. */
export type Read<T> = { record: T; problems: [] } | { record: null; problems: RowProblem[] };

const ID_LIMIT = 200;

/** Reads the fields of rows of one kind. */
export function createReader(format: ReferralFormat, kind: Kind) {
  const names = format.columns[kind];

  /** Reads one row. */
  function reader(row: SourceRow) {
    const byKey = new Map<string, { name: string; value: unknown }>();
    for (const [name, value] of Object.entries(row.values)) {
      const key = fieldKey(name);
      if (!byKey.has(key) || String(value).trim() !== '') byKey.set(key, { name, value });
    }
    const problems: RowProblem[] = [];
    const columnOf = (field: Field) =>
      names[field]?.map((name) => byKey.get(fieldKey(name))).find((column) => column !== undefined);
    const nameOf = (field: Field) => columnOf(field)?.name ?? names[field]?.[0] ?? null;
    /** Exports of spreadsheets write an apostrophe before a text that could be a formula. */
    const plain = (value: unknown) =>
      String(value ?? '')
        .trim()
        .replace(/^'(?=[=+\-@])/, '');
    const text = (field: Field): string | null => {
      for (const name of names[field] ?? []) {
        const value = plain(byKey.get(fieldKey(name))?.value);
        if (value !== '' && value.toLowerCase() !== 'null') return value;
      }
      return null;
    };
    const wrong = (field: Field, message: string): null => {
      problems.push(new RowProblem(nameOf(field), message));
      return null;
    };
    const id = (field: Field) => {
      const value = text(field);
      return value !== null && value.length > ID_LIMIT
        ? wrong(field, `must be at most ${ID_LIMIT} characters`)
        : value;
    };
    /** Returns whether a column says that the row is over. */
    const over = (): boolean => {
      try {
        return isOver(kind, row);
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error;
        problems.push(error);
        return false;
      }
    };
    /** Returns the value of a column that every format may have. */
    const named = (name: string) => plain(byKey.get(fieldKey(name))?.value) || null;
    const email = (field: Field) => {
      const value = text(field);
      if (value === null) return null;
      return isEmail(value) ? normalizeEmail(value) : wrong(field, 'must be an email address');
    };
    const instant = (field: Field) => {
      const value = text(field);
      if (value === null) return null;
      const read = readInstant(value);
      return 'problem' in read ? wrong(field, read.problem) : read.value;
    };
    const partner = (): PartnerRef => {
      const ref = { id: id('partner_id'), email: email('partner_email'), code: codeOf(text('partner_code')) };
      if (ref.id === null && ref.email === null && ref.code === null && problems.length === 0) {
        wrong('partner_email', 'or an id or a code is required: it says who the referrer is');
      }
      return ref;
    };
    return { problems, columnOf, text, named, wrong, id, email, instant, partner, over };
  }

  const finished = <T>(record: T | null, problems: RowProblem[]): Read<T> =>
    record !== null && problems.length === 0 ? { record, problems: [] } : { record: null, problems };

  return {
    partner(row: SourceRow): Read<PartnerRecord> {
      const { problems, text, id, email, partner, wrong, over } = reader(row);
      const ref = partner();
      const [first, last] = [text('first_name'), text('last_name')];
      const name = text('name') ?? ([first, last].filter(Boolean).join(' ') || null);
      if (name !== null && name.length > 200) wrong('name', 'must be at most 200 characters');
      const [paypal, wise] = [email('paypal_email'), email('wise_email')];
      const codes = listOf(text('codes')).flatMap((code) => codeOf(code) ?? []);
      const coupons = listOf(text('coupons'));
      if ([...codes, ...coupons].some((code) => code.length > ID_LIMIT)) {
        wrong('codes', `must be codes of at most ${ID_LIMIT} characters`);
      }
      const payout =
        paypal !== null
          ? { method: 'paypal' as const, email: paypal }
          : wise !== null
            ? { method: 'wise' as const, email: wise }
            : null;
      const isOff = isSuspended(text('state'));
      if (isOff === null) wrong('state', KNOWN_STATES);
      return finished(
        {
          ref: { ...ref, code: codes[0] ?? null },
          userId: id('user_id'),
          name,
          codes: [...new Set(codes)],
          coupons: [...new Set(coupons)],
          payout,
          isSuspended: over() || isOff === true,
        },
        problems,
      );
    },

    /** @returns `none` when the row of a combined file is a referrer without a customer */
    customer(row: SourceRow, holdsPartners: boolean): Read<CustomerRecord> | 'none' {
      const { problems, text, id, named, email, instant, partner, wrong } = reader(row);
      if (holdsPartners && text('customer_id') === null && text('customer_key') === null) return 'none';
      const own = id('customer_id');
      const old = id('customer_key');
      const record = {
        partner: partner(),
        userId:
          own !== null
            ? { of: 'product' as const, id: own }
            : old !== null
              ? { of: 'program' as const, id: old }
              : wrong('customer_id', 'is required: it names the customer'),
        email: email('customer_email'),
        createdAt: instant('created_at'),
        payers: payersIn(
          [own, old],
          PROVIDERS.map((provider) => [provider, named(`${provider}_customer_id`)] as const),
        ),
      };
      const { userId } = record;
      return finished(userId && { ...record, userId }, problems);
    },

    /** @returns `over` for a commission of which none is payable */
    commission(row: SourceRow, programCurrency: string): Read<CommissionRecord> | 'over' {
      const { problems, columnOf, text, wrong, id, instant, partner, over } = reader(row);
      const status = text('status')?.toLowerCase() ?? '';
      const fate = columnOf('status') === undefined ? 'eligible' : format.fates[status];
      if (fate === 'over' || over()) return 'over';
      if ((text('unit')?.toLowerCase() ?? 'cash') !== 'cash') return 'over';
      if (fate === undefined)
        wrong('status', `must be one of ${Object.keys(format.fates).filter(Boolean).join(', ')}`);
      const currency = text('currency')?.toLowerCase() ?? programCurrency;
      if (!isCurrency(currency)) wrong('currency', 'must be an ISO 4217 code');
      else if (currency !== programCurrency) {
        wrong(
          'currency',
          `must be the program's, ${programCurrency}: import it into a program of its currency`,
        );
      }
      const amountMinor = amountOf(text, wrong, programCurrency);
      if (amountMinor === 0) return 'over';
      const createdAt = instant('created_at');
      const record = {
        partner: partner(),
        id: id('commission_id'),
        createdAt,
        currency: programCurrency,
        eligibleAt: fate === 'pending' ? (instant('due_at') ?? ('after hold' as const)) : null,
      };
      return finished(amountMinor === null ? null : { ...record, amountMinor }, problems);
    },
  };

  function amountOf(
    text: (field: Field) => string | null,
    wrong: (field: Field, message: string) => null,
    currency: string,
  ): number | null {
    const minor = text('amount_minor');
    const field = minor === null ? 'amount' : 'amount_minor';
    const given = minor ?? text('amount');
    if (given === null) return wrong('amount', 'is required');
    const read = readDecimal(given);
    if ('problem' in read) return wrong(field, read.problem);
    const { value } = read;
    if ((minor !== null || format.wholeIsMinor) && !value.includes('.')) return Number(value);
    if (minor !== null) return wrong(field, 'must be a whole number of minor units');
    const sign = value.startsWith('-') ? -1 : 1;
    try {
      return sign * roundToMinor(value.replace('-', ''), currency);
    } catch (error) {
      if (!(error instanceof MoneyError)) throw error;
      return wrong(field, `must be an amount of ${currency}: ${error.message}`);
    }
  }
}

/** Returns the ids of a customer at billing providers, found by the column's name or by the form of the id. */
function payersIn(
  ids: readonly (string | null)[],
  named: readonly (readonly [Provider, string | null])[],
): CustomerRecord['payers'] {
  const formed = ids.flatMap((id) => {
    const provider = id === null ? null : providerOfCustomer(id);
    return provider && id !== null ? [[provider, id] as const] : [];
  });
  const all = new Map(
    [...named, ...formed].flatMap(([provider, id]) =>
      id ? [[`${provider}:${id}`, { provider, customer: id }]] : [],
    ),
  );
  return [...all.values()];
}

/** Returns the code in a text: a code, or a whole referral link. */
function codeOf(text: string | null): string | null {
  if (text === null) return null;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text.trim() || null;
  const { searchParams } = new URL(text);
  for (const name of [...LINK_PARAMETERS, 'fpr', 'aff']) {
    const value = searchParams.get(name)?.trim();
    if (value) return value;
  }
  return slugOfUrl(text).split('/').at(-1) || null;
}
