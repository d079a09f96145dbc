const AT_ONCE = 4;

/** Runs `work` for each item, four at a time. Rejects with the first error, once the running ones have ended. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let failed: { error: unknown } | null = null;
  const runner = async () => {
    for (const item of left) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runner));
  if (failed) throw (failed as { error: unknown }).error;
}
