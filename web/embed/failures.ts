import { words } from './words.ts';

/** A failed request. `status` 0: no response. */
export type Failure = { status: number; code: string; message: string };

/** A failure as text, for the user and for the site's developer. */
export type Explanation = {
  title: string;
  text: string;
  /** For the developer, in English; null if the title says everything. */
  hint: string | null;
  /** Whether the same request may succeed later. */
  retry: boolean;
};

/** Explains why the dashboard is empty. @param isPreview whether a member of the workspace looks at it */
export function explain({ status, code, message }: Failure, isPreview = false): Explanation {
  if (isPreview && (status === 404 || status === 409)) {
    const key = status === 404 ? 'preview_ended' : 'no_link';
    return { title: words(key), text: words(`${key}_text`), hint: null, retry: false };
  }
  switch (status) {
    case 0:
      return { ...wordsOf('no_connection'), hint: null, retry: true };
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
        ...wordsOf('no_program'),
        hint: 'The workspace has no program to enroll in. Create one with POST /api/v1/programs.',
        retry: true,
      };
    default:
      return { ...wordsOf('went_wrong'), hint: `The API returned ${status} (${code}).`, retry: true };
  }
}

/** Explains in one sentence why a change was refused. */
export function explainRefusal({ status, code }: Failure): string {
  if (status === 0) return words('refused_offline');
  if (code === 'method_not_offered') return words('refused_method');
  if (status === 403) return words('refused_forbidden');
  return words(status === 400 ? 'refused_address' : 'refused_other');
}

const wordsOf = (key: 'no_connection' | 'unavailable' | 'no_program' | 'went_wrong') => ({
  title: words(key),
  text: words(`${key}_text`),
});

const unavailable = (hint: string): Explanation => ({ ...wordsOf('unavailable'), hint, retry: true });
