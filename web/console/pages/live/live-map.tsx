import { centerOf } from '../../dashboard/shape-centers.ts';
import { WORLD_SHAPES, WORLD_SIZE } from '../../dashboard/world-shapes.ts';
import { countryName, plural } from '../../formats.ts';

const [WIDTH, HEIGHT] = WORLD_SIZE;
/** Radius of a dot for one click, in map units. The area of a dot grows with its clicks. */
const RADIUS = 4;
const MOST_RADIUS = 26;
/** Countries that the label names. */
const NAMED = 3;

/** Where the clicks came from: a dot in each country. The list has the same as text. */
export default function LiveMap({ clicks }: { clicks: readonly { country?: string }[] }) {
  const counts = new Map<string, number>();
  for (const { country = '' } of clicks) counts.set(country, (counts.get(country) ?? 0) + 1);
  const known = [...counts].filter(([code]) => code in WORLD_SHAPES).sort(([, a], [, b]) => b - a);
  const top = known
    .slice(0, NAMED)
    .map(([code, count]) => `${countryName(code)}: ${plural(count, 'click', 'clicks')}`);
  return (
    <div className="world live-map">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Map of the clicks in the list. ${top.join(', ') || 'No known country'}`}
      >
        {Object.entries(WORLD_SHAPES).map(([code, path]) => (
          <path key={code} d={path} className="world-country" />
        ))}
        {known.map(([code, count]) => {
          const [x, y] = centerOf(WORLD_SHAPES[code] ?? '');
          return (
            <circle
              key={code}
              className="live-dot"
              data-country={code}
              cx={x}
              cy={y}
              r={Math.min(MOST_RADIUS, RADIUS * Math.sqrt(count))}
            />
          );
        })}
      </svg>
    </div>
  );
}
