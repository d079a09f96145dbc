import { formatCount, formatRate, formatSpan } from './formats.ts';
import type { Stats } from './stats.ts';
import { words } from './words.ts';

/** Totals of the period. */
export function Figures({ stats, days }: { stats: Stats['stats']; days: number }) {
  const figures = [
    { name: words('clicks'), value: formatCount(stats.clicks) },
    { name: words('signups'), value: formatCount(stats.signups) },
    { name: words('purchases'), value: formatCount(stats.purchases) },
    { name: words('conversion_rate'), value: formatRate(stats.conversion_rate) },
  ];
  return (
    <section aria-labelledby="figures-heading">
      <h2 id="figures-heading" class="unseen">
        {words('last_days', { days: formatSpan(days, 'day') })}
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
