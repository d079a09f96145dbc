/** Returns the sum of all series of a metric in Prometheus text; 0 if absent. */
export function metric(page: string, name: string): number {
  let sum = 0;
  for (const line of page.split('\n')) {
    if (!line.startsWith(name)) continue;
    const next = line[name.length];
    if (next === '{' || next === ' ') sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
