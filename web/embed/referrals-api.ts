import type { Failure } from './failures.ts';
import type { Settings } from './settings.ts';
import type { RewardMode, SavedPayout, Stats } from './stats.ts';

export type Answer<T> = { ok: true; value: T } | { ok: false; failure: Failure };

/** Request timeout. Milliseconds. */
const LIMIT = 20_000;

/** The dashboard's API calls. */
export type ReferralsApi = {
  /** Gets the user's statistics; enrolls the user if necessary. */
  stats(days: number): Promise<Answer<Stats>>;
  switchMode(mode: RewardMode): Promise<Answer<{ reward_mode: RewardMode }>>;
  savePayoutMethod(method: string, address: string): Promise<Answer<SavedPayout>>;
  /** A preview: the dashboard offers no change. */
  isReadOnly: boolean;
};

/**
 * The calls with a publishable key. The user's ID and email are sent only here, in the query or body.
 *
 * @param origin of the API
 * @param ancestors origins of the pages that frame this one, or opened it
 */
export function createReferralsApi(
  origin: string,
  { key, userId, userHash, email, tier }: Settings,
  ancestors: readonly string[],
): ReferralsApi {
  const call = createCall(origin, key, ancestors);
  const user = { external_user_id: userId, ...(userHash !== null && { user_hash: userHash }) };
  return {
    isReadOnly: false,
    stats(days) {
      const query = new URLSearchParams({ ...user, tier, days: String(days) });
      if (email !== null) query.set('email', email);
      return call(`stats?${query}`);
    },
    switchMode: (mode) => call('reward-mode', { ...user, mode }),
    savePayoutMethod: (method, address) => call('payout-method', { ...user, method, email: address }),
  };
}

/** The calls of a preview, whose token reads one referrer's statistics. */
export function createPreviewApi(origin: string, token: string): ReferralsApi {
  const call = createCall(origin, token, []);
  const refused = async () =>
    ({
      ok: false,
      failure: { status: 403, code: 'forbidden', message: 'a preview changes nothing' },
    }) as const;
  return {
    isReadOnly: true,
    stats: (days) => call(`preview?days=${days}`),
    switchMode: refused,
    savePayoutMethod: refused,
  };
}

function createCall(origin: string, key: string, ancestors: readonly string[]) {
  return async <T>(path: string, body?: object): Promise<Answer<T>> => {
    try {
      const response = await fetch(`${origin}/api/v1/referrals/${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${key}`,
          // The call has this page's origin; the workspace may allow some sites only.
          ...(ancestors.length > 0 && { 'embed-ancestors': ancestors.join(' ') }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        cache: 'no-store',
        signal: AbortSignal.timeout(LIMIT),
      });
      const answer: unknown = await response.json().catch(() => null);
      if (response.ok && answer !== null) return { ok: true, value: answer as T };
      return { ok: false, failure: failureOf(response.status, answer) };
    } catch {
      return { ok: false, failure: { status: 0, code: 'network', message: 'no answer' } };
    }
  };
}

function failureOf(status: number, answer: unknown): Failure {
  const error = (answer as { error?: { code?: unknown; message?: unknown } } | null)?.error;
  return {
    status,
    code: typeof error?.code === 'string' ? error.code : 'unexpected',
    message: typeof error?.message === 'string' ? error.message : `status ${status}`,
  };
}
