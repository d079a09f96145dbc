/**
 * The value of a metric that a process serves, all its label sets added up; 0 when there is none.
 *
 * @param port where its metrics are
 * @param labels how the text between the braces has to look
 * @throws TypeError while nobody serves them
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
