import { attempt } from './attempt.ts';

/**
 * Steps that wait for a task of their own. A slow phone takes milliseconds for a cookie or a beacon: one after another in
 * one task, they would hold up the page.
 */
const steps: (() => void)[] = [];
/** Requests without a response; steps wait while there are {@link MOST}. */
let open = 0;
/** Far below the 256 beacons and such that Chromium allows to a page, with its other scripts. */
export const MOST = 50;
let isLeft = false;

const runNext = () => open < MOST && steps[0] && attempt(steps.shift() as () => void);

/** Runs all that waits, at once. */
export const flush = () => {
  while (steps[0]) attempt(steps.shift() as () => void);
};

/** Queues a step as a separate task. While the page is being left no task runs any more: then it runs the step at once. */
export const later = (step: () => void) => {
  steps.push(step);
  if (isLeft) flush();
  else setTimeout(runNext);
};

/**
 * Counts requests that begin, or with a negative number end. Then steps that waited run in tasks of their own: all, or of
 * many one for each place and a second in case that the first asks for nothing. When the page is left they run at once.
 */
export const hold = (by: number) => {
  open += by;
  for (const _ of open > 9 ? [0, 0] : steps) setTimeout(runNext);
};

/** From now on runs steps at once. */
export const leave = () => {
  isLeft = true;
  flush();
};
