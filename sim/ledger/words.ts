import type { Action } from '../../test/referrals/history.ts';
import type { Step } from './steps.ts';

/** Returns a step in words. */
export function words(step: Step): string {
  switch (step.do) {
    case 'act':
      return actionWords(step.action);
    case 'together':
      return `at the same time: ${step.actions.map(actionWords).join('; ')}`;
    case 'kill API':
      return `the API is killed before its ${step.afterCalls + 1}th statement from here, and starts again`;
    case 'pause API':
      return `the API stands still for ${seconds(step.ms)} after its ${step.afterCalls + 1}th statement from here`;
    case 'lose calls':
      return `of the calls ${share(step.requests)} get lost, and ${share(step.answers)} of the answers: clients call again`;
    case 'break network': {
      const { lostRequests, lostAnswers, lateMs = 0 } = step.faults;
      return `of the API's statements ${share(lostRequests)} get lost, and ${share(lostAnswers)} of PostgreSQL's answers; others are up to ${seconds(lateMs)} late`;
    }
    case 'mend network':
      return 'the network works';
    case 'keep standby':
      return 'the standby of PostgreSQL gets no commits from here on';
    case 'fail over':
      return `PostgreSQL fails, and after ${seconds(step.downMs)} its standby takes over`;
    case 'restart PostgreSQL':
      return `PostgreSQL restarts in ${seconds(step.afterMs)}`;
  }
}

/** An action with its values, such as `purchase user 3, order 1, amount 500`. */
function actionWords({ type, ...given }: Action): string {
  const values = Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return [type, values.join(', ')].join(' ');
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(3)} s`;
const share = (part: number) => `${Math.round(part * 100)} %`;
