/** A failed request. `status` 0: no response. */
export type Failure = { status: number; code: string; message: string };

/** A failure as text, for the user and for the site's developer. */
export type Explanation = {
  title: string;
  text: string;
  /** For the developer; null if the title says everything. */
  hint: string | null;
  /** Whether the same request may succeed later. */
  retry: boolean;
};

/** Explains why the dashboard is empty. @param isPreview whether a member of the workspace looks at it */
export function explain({ status, code, message }: Failure, isPreview = false): Explanation {
  if (isPreview && (status === 404 || status === 409)) {
    return {
      title: status === 404 ? 'The preview has ended' : 'This referrer has no link',
      text:
        status === 404
          ? 'Close it and open it again.'
          : 'The link was deleted. Enroll the user again to make one.',
      hint: null,
      retry: false,
    };
  }
  switch (status) {
    case 0:
      return {
        title: 'No connection',
        text: 'Your referrals failed to load. Check your connection and try again.',
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
        text: 'Your personal link appears here once the program starts.',
        hint: 'The workspace has no program to enroll in. Create one with POST /api/v1/programs.',
        retry: true,
      };
    default:
      return {
        title: 'Something went wrong',
        text: 'Your referrals failed to load. Try again in a moment.',
        hint: `The API returned ${status} (${code}).`,
        retry: true,
      };
  }
}

/** Explains in one sentence why a change was refused. */
export function explainRefusal({ status, code, message }: Failure): string {
  if (status === 0) return 'No connection. Nothing was changed; try again.';
  if (code === 'method_not_offered') return 'This payout method is no longer offered.';
  if (status === 403) return 'The program does not allow this.';
  if (status === 400) return message.replace(/^`[\w.]+` /, 'The address ');
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
