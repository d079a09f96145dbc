/** Returns a function that draws a value by weight. */
export function weighted<T extends { weight: number }>(values: readonly T[], random: () => number): () => T {
  const sums: number[] = [];
  let total = 0;
  for (const { weight } of values) {
    total += weight;
    sums.push(total);
  }
  return () => {
    const wanted = random() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) <= wanted) low = middle + 1;
      else high = middle;
    }
    return values[low] as T;
  };
}
