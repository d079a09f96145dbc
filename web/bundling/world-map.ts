import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Makes the console's map of the world: `npm run map`. Countries of Natural Earth (public domain) at 1:110 million,
 * from the package `world-atlas`, in the Equal Earth projection, as SVG paths of whole numbers.
 */

type Point = readonly [number, number];
type Shape = { id?: string; properties: { name: string } } & (
  | { type: 'Polygon'; arcs: number[][] }
  | { type: 'MultiPolygon'; arcs: number[][][] }
);
type Topology = {
  arcs: Point[][];
  transform: { scale: Point; translate: Point };
  objects: { countries: { geometries: Shape[] } };
};

const WIDTH = 1_000;
/** Least area of a triangle that a point of a border spans. Square pixels. */
const LEAST_AREA = 0.6;
const ANTARCTICA = '010';
/** Areas without a number of ISO 3166 in the source, by name. */
const UNNUMBERED: Readonly<Record<string, string>> = { 'N. Cyprus': 'CY', Somaliland: 'SO', Kosovo: 'XK' };

const FILE = fileURLToPath(new URL('../console/dashboard/world-shapes.ts', import.meta.url));
const require = createRequire(import.meta.url);

/** Equal Earth (Šavrič, Patterson, Jenny 2018). Degrees in, about ±2.7 by ±1.3 out, north up. */
function project([longitude, latitude]: Point): Point {
  const [a1, a2, a3, a4] = [1.340264, -0.081106, 0.000893, 0.003796];
  const m = Math.sqrt(3) / 2;
  const theta = Math.asin(m * Math.sin((latitude * Math.PI) / 180));
  const t2 = theta * theta;
  const t6 = t2 * t2 * t2;
  const x =
    (((longitude * Math.PI) / 180) * Math.cos(theta)) /
    (m * (a1 + 3 * a2 * t2 + t6 * (7 * a3 + 9 * a4 * t2)));
  return [x, theta * (a1 + a2 * t2 + t6 * (a3 + a4 * t2))];
}

const [EDGE] = project([180, 0]);
const [, TOP] = project([0, 84]);
const [, BOTTOM] = project([0, -57]);
const SCALE = WIDTH / (2 * EDGE);
const HEIGHT = Math.round((TOP - BOTTOM) * SCALE);

/** Removes the points of a border that change its shape least (Visvalingam). Ends stay: borders meet there. */
function simplified(points: readonly Point[]): Point[] {
  const kept = [...points];
  const areaAt = (n: number) => {
    const [[ax, ay], [bx, by], [cx, cy]] = [kept[n - 1], kept[n], kept[n + 1]] as [Point, Point, Point];
    return Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2;
  };
  while (kept.length > 4) {
    let least = 1;
    for (let n = 2; n < kept.length - 1; n++) if (areaAt(n) < areaAt(least)) least = n;
    if (areaAt(least) >= LEAST_AREA) break;
    kept.splice(least, 1);
  }
  return kept;
}

/** The borders of a topology in pixels. */
function bordersOf({ arcs, transform: { scale, translate } }: Topology): Point[][] {
  return arcs.map((arc) => {
    let [x, y] = [0, 0];
    const points = arc.map(([dx, dy]): Point => {
      x += dx;
      y += dy;
      const [px, py] = project([x * scale[0] + translate[0], y * scale[1] + translate[1]]);
      return [(px + EDGE) * SCALE, (TOP - py) * SCALE];
    });
    return simplified(points);
  });
}

/**
 * A ring of arcs as a path with relative coordinates; empty when nothing of it is left. A ring that crosses the edge of
 * the map becomes a shape on each side.
 */
function pathOf(ring: readonly number[], borders: readonly Point[][]): string {
  const points = ring.flatMap((arc, nth) => {
    const border = arc < 0 ? (borders[~arc] ?? []).toReversed() : (borders[arc] ?? []);
    return nth === 0 ? border : border.slice(1);
  });
  const rounded = points.map(([x, y]): Point => [Math.round(x), Math.round(y)]);
  const distinct = rounded.filter(
    ([x, y], n) => n === 0 || x !== rounded[n - 1]?.[0] || y !== rounded[n - 1]?.[1],
  );
  const [first, ...rest] = distinct.slice(0, -1);
  if (!first || rest.length < 2) return '';
  let [x, y] = first;
  const steps = rest.map(([nextX, nextY]) => {
    const isAcross = Math.abs(nextX - x) > WIDTH / 2;
    const step = isAcross ? `zM${nextX},${nextY}l` : `${nextX - x},${nextY - y}`;
    [x, y] = [nextX, nextY];
    return step;
  });
  return `M${first.join(',')}l${steps.join(' ').replace(/[ ,]-/g, '-')}z`.replace(/ ?(zM\d+,\d+l) ?/g, '$1');
}

function makeShapes(): string {
  const topology = require('world-atlas/countries-110m.json') as Topology;
  const { numericToAlpha2 } = require('i18n-iso-countries') as {
    numericToAlpha2(code: string): string | undefined;
  };
  const borders = bordersOf(topology);
  const paths = new Map<string, string>();
  for (const shape of topology.objects.countries.geometries) {
    if (shape.id === ANTARCTICA) continue;
    const code = shape.id ? numericToAlpha2(shape.id) : UNNUMBERED[shape.properties.name];
    if (!code) throw new Error(`the country ${shape.properties.name} (${shape.id}) has no two-letter code`);
    const polygons = shape.type === 'Polygon' ? [shape.arcs] : shape.arcs;
    const path = polygons.flatMap((polygon) => polygon.map((ring) => pathOf(ring, borders))).join('');
    if (path !== '') paths.set(code, (paths.get(code) ?? '') + path);
  }
  const lines = [...paths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, path]) => `  ${code}: '${path}',\n`);
  return `// Made by web/bundling/world-map.ts from Natural Earth (public domain).

/** Width and height of the map, in the unit of its paths. */
export const WORLD_SIZE = [${WIDTH}, ${HEIGHT}] as const;

/** SVG paths of countries, by ISO 3166-1 alpha-2 code. */
export const WORLD_SHAPES: Readonly<Record<string, string>> = {
${lines.join('')}};
`;
}

if (import.meta.main) writeFileSync(FILE, makeShapes());
