/** Why a call has no answer. `status` 0: nothing came back. */
export type Failure = { status: number; code: string; message: string };

/** A failure in words: for the user first, then for whoever built the page. */
export type Explanation = {
  title: string;
  text: string;
  /** For the developer; null where the title says all. */
  hint: string | null;
  /** Whether the same call may well succeed later. */
  retry: boolean;
};

/** Why the dashboard has nothing to show. */
export function explain({ status, code, message }: Failure): Explanation {
  switch (status) {
    case 0:
      return {
        title: 'No connection',
        text: 'Your referrals could not be loaded. Check your connection and try again.',
        hint: null,
        retry: true,
      };
    case 400:
      return unavailable(`The API refused a parameter: ${message}`);
    case 401:
      return unavailable('The publishable key is unknown or was revoked (401).');
    case 402:
      return unavailable("The workspace's plan does not cover referrals (402).");
    case 403:
      return unavailable(`The key may not read referrals (403): ${message}`);
    case 404:
      return {
        title: 'No referral program yet',
        text: 'As soon as there is one, your personal link shows up here.',
        hint: 'The workspace has no program to enroll in. Create one with POST /api/v1/programs.',
        retry: true,
      };
    default:
      return {
        title: 'Something went wrong',
        text: 'Your referrals could not be loaded just now. Try again in a moment.',
        hint: `The API answered ${status} (${code}).`,
        retry: true,
      };
  }
}

/** Why a change was not made, in one sentence for the user. */
export function explainRefusal({ status, code, message }: Failure): string {
  if (status === 0) return 'No connection. Nothing was changed; try again.';
  if (code === 'method_not_offered') return 'This payout method is not offered any more.';
  if (status === 403) return 'The program does not allow this.';
  if (status === 400) return message.replace(/^[\w.]+: /, 'The address ');
  return 'That did not work. Nothing was changed; try again in a moment.';
}

function unavailable(hint: string): Explanation {
  return {
    title: 'Referrals are not available right now',
    text: 'Please come back later, or tell the team of this site.',
    hint,
    retry: true,
  };
}
