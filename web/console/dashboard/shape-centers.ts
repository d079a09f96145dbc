/**
 * Returns the center of the largest part of a country's shape: islands far away do not move it.
 *
 * @param path of `WORLD_SHAPES`: parts of `Mx,yldx,dy dx,dy…z` in whole units
 */
export function centerOf(path: string): [x: number, y: number] {
  let largest = { area: -1, x: 0, y: 0 };
  for (const part of path.split('z')) {
    const [x = 0, y = 0, ...steps] = (part.match(/-?\d+/g) ?? []).map(Number);
    const one = centroid(x, y, steps);
    if (one.area > largest.area) largest = one;
  }
  return [largest.x, largest.y];
}

/**
 * Area and centroid of a polygon, by the shoelace formula relative to its first point. The centroid of a line is that
 * point.
 */
function centroid(startX: number, startY: number, steps: readonly number[]) {
  let [x, y, twice, sumX, sumY] = [0, 0, 0, 0, 0];
  for (let at = 0; at + 1 < steps.length; at += 2) {
    const [nextX, nextY] = [x + (steps[at] ?? 0), y + (steps[at + 1] ?? 0)];
    const cross = x * nextY - nextX * y;
    twice += cross;
    sumX += (x + nextX) * cross;
    sumY += (y + nextY) * cross;
    [x, y] = [nextX, nextY];
  }
  if (twice === 0) return { area: 0, x: startX, y: startY };
  return { area: Math.abs(twice) / 2, x: startX + sumX / (3 * twice), y: startY + sumY / (3 * twice) };
}
