import type { PartnerRef } from '../../../core/referral-imports/records.ts';
import type { Queryable } from '../../../sql/database/pool.ts';
import { type KnownPartner, partnersNamed } from '../../../sql/referrals/imports.ts';

/** The referrers of an import, by their identifiers in rows. */
export type PartnerDirectory = {
  add(partner: KnownPartner, ref: PartnerRef, codes: readonly string[]): void;
  /** Returns the referrer of each row, from this import or an earlier one; undefined: none. */
  find(tx: Queryable, refs: readonly PartnerRef[]): Promise<(KnownPartner | undefined)[]>;
};

/** @param userIdOf returns the user's id of the referrer with this id in the source */
export function createPartnerDirectory(
  workspaceId: string,
  userIdOf: (partnerId: string) => string,
): PartnerDirectory {
  const known = { user: new Map<string, KnownPartner>(), email: new Map(), code: new Map() } as Record<
    'user' | 'email' | 'code',
    Map<string, KnownPartner>
  >;
  const put = (by: keyof typeof known, name: string, partner: KnownPartner) => {
    if (!known[by].has(name)) known[by].set(name, partner);
  };

  function lookUp({ id, email, code }: PartnerRef): KnownPartner | undefined {
    return (
      (id === null ? undefined : known.user.get(userIdOf(id))) ??
      (email === null ? undefined : known.email.get(email)) ??
      (code === null ? undefined : known.code.get(code.toLowerCase()))
    );
  }

  return {
    add(partner, { id, email }, codes) {
      if (id !== null) put('user', userIdOf(id), partner);
      if (email !== null) put('email', email, partner);
      for (const code of codes) put('code', code.toLowerCase(), partner);
    },
    async find(tx, refs) {
      const unknown = refs.filter((ref) => lookUp(ref) === undefined);
      if (unknown.length > 0) {
        const found = await partnersNamed(tx, workspaceId, {
          userIds: unknown.flatMap(({ id }) => (id === null ? [] : [userIdOf(id)])),
          emails: unknown.flatMap(({ email }) => email ?? []),
          codes: unknown.flatMap(({ code }) => code ?? []),
        });
        for (const { by, name, ...partner } of found) put(by, name, partner);
      }
      return refs.map(lookUp);
    },
  };
}
