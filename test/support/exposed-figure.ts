/**
 * Returns the value of a metric that a process serves, summed over its label sets; 0 when there are none.
 *
 * @param port of its metrics
 * @param labels matches the text between the braces
 * @throws TypeError while no process serves them
 */
export async function exposedFigure(port: number, name: string, labels = /.*/): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  let sum = 0;
  for (const line of text.split('\n')) {
    const [, metric, found = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (metric === name && labels.test(found)) sum += Number(value);
  }
  return sum;
}
