const WIDTH = 88;
const HEIGHT = 26;
/** Room for half of the line at the top and bottom. */
const INSET = 2;

/** A small line of values in order of time, from zero. @param label its text alternative */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const top = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const y = (value: number) => HEIGHT - INSET - (value / top) * (HEIGHT - 2 * INSET);
  // One value is a level line.
  const points = (values.length === 1 ? [...values, ...values] : values).map(
    (value, index) => `${round(values.length === 1 ? index * WIDTH : index * step)},${round(y(value))}`,
  );
  const line = points.join(' L');
  return (
    <svg
      className="sparkline"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
      data-none={values.every((value) => value === 0) || undefined}
    >
      <path className="sparkline-area" d={`M0,${HEIGHT} L${line} L${WIDTH},${HEIGHT} Z`} />
      <path className="sparkline-line" d={`M${line}`} />
    </svg>
  );
}

const round = (value: number) => Math.round(value * 10) / 10;
