import { CopyField } from './copying.tsx';
import { words } from './words.ts';

/** The user's discount codes, each with a button to copy it. */
export function CouponCard({ codes }: { codes: string[] }) {
  return (
    <section class="card link-card" aria-labelledby="coupon-heading">
      <h2 id="coupon-heading">{words(codes.length === 1 ? 'coupon_one' : 'coupon_many')}</h2>
      <p class="hint">{words(codes.length === 1 ? 'coupon_one_text' : 'coupon_many_text')}</p>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <CopyField text={code} labelledBy="coupon-heading" name={words('code')} />
          </li>
        ))}
      </ul>
    </section>
  );
}
