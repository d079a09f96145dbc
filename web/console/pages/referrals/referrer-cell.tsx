import { PORTAL_USER } from '../../../../core/referrals/portal.ts';
import { SmallNote } from '../../parts/note.tsx';
import { LongTextCell } from '../../parts/scroll-table.tsx';
import { ReferrerPress } from './referrer-press.tsx';

type Props = {
  referrer: { partner_id: string; external_user_id: string; name: string | null; email?: string | null };
  /** What to say of the referrer besides. */
  note?: string | false | undefined;
};

/** A referrer by name, or by the user's id where no name is known. Opens the details. */
export function ReferrerCell({ referrer, note = false }: Props) {
  const { partner_id, external_user_id: user, name, email } = referrer;
  // The portal makes ids that nobody knows.
  const known = name && !user.startsWith(PORTAL_USER) && user;
  const others = [known, email !== user && email, note].filter(Boolean);
  return (
    <LongTextCell>
      <ReferrerPress id={partner_id}>{name || user}</ReferrerPress>
      {others.length > 0 && <SmallNote>{others.join(', ')}</SmallNote>}
    </LongTextCell>
  );
}
