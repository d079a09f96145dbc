/** The sum of a metric's series in a page of Prometheus metrics; 0 when it is not there. */
export function metric(page: string, name: string): number {
  let sum = 0;
  for (const line of page.split('\n')) {
    if (!line.startsWith(name)) continue;
    const next = line[name.length];
    if (next === '{' || next === ' ') sum += Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return sum;
}
