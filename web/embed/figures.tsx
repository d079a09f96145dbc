import { formatCount, formatRate } from './formats.ts';
import type { Stats } from './stats.ts';

/** Totals of the period. */
export function Figures({ stats, days }: { stats: Stats['stats']; days: number }) {
  const figures = [
    { name: 'Clicks', value: formatCount(stats.clicks) },
    { name: 'Signups', value: formatCount(stats.signups) },
    { name: 'Purchases', value: formatCount(stats.purchases) },
    { name: 'Conversion rate', value: formatRate(stats.conversion_rate) },
  ];
  return (
    <section aria-labelledby="figures-heading">
      <h2 id="figures-heading" class="unseen">
        Last {days} days
      </h2>
      <dl class="figures">
        {figures.map(({ name, value }) => (
          <div key={name} class="card figure">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
