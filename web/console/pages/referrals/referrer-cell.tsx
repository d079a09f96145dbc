import { PORTAL_USER } from '../../../../core/referrals/portal.ts';
import { SmallNote } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { ReferrerPress } from './referrer-press.tsx';

type Known = { external_user_id: string; name: string | null; email?: string | null };
type Props = {
  referrer: Known & { partner_id: string };
  /** What to say of the referrer besides. */
  note?: string | false | undefined;
};

/** A referrer by name, by email, or by the user's id where neither is known. Opens the details. */
export function ReferrerCell({ referrer, note = false }: Props) {
  const { partner_id, external_user_id: user, email } = referrer;
  const title = referrerName(referrer);
  // The portal makes ids that nobody knows.
  const known = !user.startsWith(PORTAL_USER) && user;
  const others = [known, email !== user && email, note].filter((one) => one && one !== title);
  return (
    <LongTextCell>
      <ReferrerPress id={partner_id}>{title}</ReferrerPress>
      {others.length > 0 && <SmallNote>{others.join(', ')}</SmallNote>}
    </LongTextCell>
  );
}

/** What a referrer is called: the name, else the email, else the user's id. */
export const referrerName = ({ name, email, external_user_id: user }: Known): string => name || email || user;

type Names = { referrer_name: string | null; referrer_email: string | null };

/** The referrer whose own record this is. */
export const earnerOf = <Own extends Names & { partner_id: string; external_user_id: string }>(own: Own) => ({
  partner_id: own.partner_id,
  external_user_id: own.external_user_id,
  name: own.referrer_name,
  email: own.referrer_email,
});

/** The referrer of a record of a referred user. */
export const referrerOf = (record: Names & { referrer_external_user_id: string | null }): Known => ({
  external_user_id: record.referrer_external_user_id ?? '',
  name: record.referrer_name,
  email: record.referrer_email,
});
