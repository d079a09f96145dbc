const WIDTH = 88;
const HEIGHT = 26;
/** Room for half of the line at the top and bottom. */
const INSET = 2;

type Props = {
  values: readonly number[];
  /** Text alternative. */
  label: string;
  /** The last value may still grow: it is dashed, so that it does not look like a fall. */
  isOpenEnded?: boolean;
};

/** A small line of values in order of time, from zero. */
export function Sparkline({ values, label, isOpenEnded = false }: Props) {
  const top = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const y = (value: number) => HEIGHT - INSET - (value / top) * (HEIGHT - 2 * INSET);
  // One value is a level line.
  const points = (values.length === 1 ? [...values, ...values] : values).map(
    (value, index) => `${round(values.length === 1 ? index * WIDTH : index * step)},${round(y(value))}`,
  );
  const isDashed = isOpenEnded && points.length > 2;
  const whole = isDashed ? points.slice(0, -1) : points;
  const line = whole.join(' L');
  const right = isDashed ? round(WIDTH - step) : WIDTH;
  return (
    <svg
      className="sparkline"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
      data-none={values.every((value) => value === 0) || undefined}
    >
      <path className="sparkline-area" d={`M0,${HEIGHT} L${line} L${right},${HEIGHT} Z`} />
      <path className="sparkline-line" d={`M${line}`} />
      {isDashed && <path className="sparkline-line" data-end d={`M${points.slice(-2).join(' L')}`} />}
    </svg>
  );
}

const round = (value: number) => Math.round(value * 10) / 10;
