import { attempt } from './attempt.ts';

/**
 * Steps that wait for a task of their own. A slow phone takes milliseconds for a cookie or a beacon: one after another in
 * one task, they would hold up the page.
 */
const steps: (() => void)[] = [];
/** Visits without a response. Steps wait for them: calls need the visitor's id. */
let open = 0;
let isLeft = false;

const runOne = () => steps[0] && attempt(steps.shift() as () => void);
const runNext = () => open || runOne();

/** Runs all that waits, at once. */
export const flush = () => {
  while (steps[0]) runOne();
};

/** Queues a step as a separate task. While the page is being left no task runs any more: then it runs the step at once. */
export const later = (step: () => void) => {
  steps.push(step);
  if (isLeft) flush();
  else setTimeout(runNext);
};

/** Makes steps wait (1) until it is called again (-1), or until the page is left. */
export const hold = (by: 1 | -1) => {
  open += by;
  for (const _ of steps) setTimeout(runNext);
};

/** From now on runs steps at once. */
export const leave = () => {
  isLeft = true;
  flush();
};
