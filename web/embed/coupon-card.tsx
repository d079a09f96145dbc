import { CopyField } from './copying.tsx';

/** The user's discount codes, each with a button to copy it. */
export function CouponCard({ codes }: { codes: string[] }) {
  return (
    <section class="card link-card" aria-labelledby="coupon-heading">
      <h2 id="coupon-heading">{codes.length === 1 ? 'Your coupon' : 'Your coupons'}</h2>
      <p class="hint">
        Orders with {codes.length === 1 ? 'this code' : 'one of these codes'} count as yours.
      </p>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <CopyField text={code} labelledBy="coupon-heading" name="Code" />
          </li>
        ))}
      </ul>
    </section>
  );
}
