import { attempt } from './attempt.ts';

/**
 * Steps that each wait for a task. A cookie or a beacon takes milliseconds on a slow phone, so several in one task
 * would block the page.
 */
const steps: (() => void)[] = [];
/** Requests without a response; steps wait while there are {@link MOST}. */
let open = 0;
/**
 * Far below the limit of 256 for beacons and other keep-alive requests of a page in Chromium, which other scripts
 * share.
 */
export const MOST = 50;
let isLeft = false;

const runNext = () => open < MOST && steps[0] && attempt(steps.shift() as () => void);

/** Runs all waiting steps at once. */
export const flush = () => {
  while (steps[0]) attempt(steps.shift() as () => void);
};

/** Queues a step as a separate task. While the page is being left, no further task runs, so the step runs at once. */
export const later = (step: () => void) => {
  steps.push(step);
  if (isLeft) flush();
  else setTimeout(runNext);
};

/**
 * Counts requests that begin, or with a negative number end. Then waiting steps run in tasks of their own. With many
 * open requests only two run: one for the freed slot, and a second because the first may send no request. When the page
 * is left they run at once.
 */
export const hold = (by: number) => {
  open += by;
  for (const _ of open > 9 ? [0, 0] : steps) setTimeout(runNext);
};

/** Runs waiting steps and all later ones at once. */
export const leave = () => {
  isLeft = true;
  flush();
};
