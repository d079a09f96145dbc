/** Whether work may be given to a process, and what it says of itself. */
export type Readiness = { ready: boolean; body: object };

/** Longest time a store gets to answer. Milliseconds. */
const CHECK_LIMIT = 2_000;

/**
 * Which stores answer.
 *
 * @param checks of each store by its name, under way already
 */
export async function storesUp<Name extends string>(
  checks: Record<Name, Promise<unknown>>,
): Promise<{ up: boolean; stores: Record<Name, 'up' | 'down'> }> {
  const names = Object.keys(checks) as Name[];
  const answers = await Promise.all(names.map(async (name) => [name, await answered(checks[name])] as const));
  return {
    up: answers.every(([, up]) => up),
    stores: Object.fromEntries(answers.map(([name, up]) => [name, up ? 'up' : 'down'])) as Record<
      Name,
      'up' | 'down'
    >,
  };
}

async function answered(check: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, CHECK_LIMIT, false);
  });
  const outcome = check.then(
    () => true,
    () => false,
  );
  return Promise.race([outcome, limit]).finally(() => clearTimeout(timer));
}
