import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { badRequest } from '../../core/errors.ts';

/**
 * Characters of a password that are judged: the work grows with their square, on the event loop. If the beginning of a
 * longer password is not guessable, neither is the whole.
 */
const JUDGED_CHARACTERS = 16;
/** Least score: fewer than a million guesses (0 and 1) are refused. */
const LEAST_SCORE = 2;

/** Refuses passwords that are easy to guess. */
export type WeakPasswords = {
  /**
   * Loads the word lists, which takes about 0.2 s of the event loop. Call it at the start of a process; otherwise the
   * first check loads them.
   */
  load(): Promise<unknown>;
  /**
   * Checks by NIST SP 800-63B: no rules of composition, but no common password, sequence, repetition or word of the
   * context.
   *
   * @param context such as the email
   * @throws {AppError} `bad_request` for a password that is easy to guess
   */
  refuse(password: string, context: readonly string[]): Promise<void>;
};

export function createWeakPasswords(): WeakPasswords {
  let judge: Promise<ZxcvbnFactory> | undefined;
  const load = () => {
    judge ??= makeJudge();
    return judge;
  };
  return {
    load,
    async refuse(password, context) {
      const words = context
        .flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)])
        .filter((word) => word !== '');
      const text = [...password.normalize('NFKC')].slice(0, JUDGED_CHARACTERS).join('');
      const { score } = (await load()).check(text, ['hoplog', ...words]);
      if (score < LEAST_SCORE || words.includes(password.toLowerCase())) {
        throw badRequest(
          'password',
          'is easy to guess; use a longer phrase, without common words, names or sequences alone',
        );
      }
    },
  };
}

/** Loads only the word lists for all languages: common passwords, names, and words of Wikipedia. */
async function makeJudge(): Promise<ZxcvbnFactory> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
