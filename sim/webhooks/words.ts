import type { Behavior } from './receivers.ts';
import type { Step } from './steps.ts';

/** Returns a step in words. */
export function words(step: Step): string {
  switch (step.do) {
    case 'event':
      return `the shop commits ${counted(step.events, 'event')}`;
    case 'click':
      return `${counted(step.clicks, 'click')} of a person ${step.clicks === 1 ? 'is' : 'are'} in the log`;
    case 'wait':
      return `${seconds(step.ms)} pass`;
    case 'sleep':
      return `all machines sleep for ${seconds(step.ms)}`;
    case 'stand still':
      return `all machines stand still for ${seconds(step.ms)}`;
    case 'receiver':
      return `receiver ${step.hook} from now on ${behaves(step.behavior)}`;
    case 'break receivers':
      return `of the requests to receivers ${share(step.faults.lostRequests)} get lost, and ${share(step.faults.lostAnswers)} of the answers`;
    case 'switch hook':
      return `webhook ${step.hook} is switched ${step.on ? 'on' : 'off'}`;
    case 'kill worker':
      return step.afterCalls === null
        ? `worker-${step.worker} is killed, and starts again`
        : `worker-${step.worker} is killed before its ${step.afterCalls + 1}th request from here, and starts again`;
    case 'stop worker':
      return `worker-${step.worker} is stopped, and starts again`;
    case 'pause worker':
      return step.afterCalls === null
        ? `worker-${step.worker} stands still for ${seconds(step.ms)}`
        : `worker-${step.worker} stands still for ${seconds(step.ms)} after its ${step.afterCalls + 1}th request from here`;
    case 'set clock':
      return step.ms === 0
        ? `the clock of worker-${step.worker} is right`
        : `the clock of worker-${step.worker} is ${seconds(Math.abs(step.ms))} ${step.ms > 0 ? 'ahead' : 'behind'}`;
    case 'stop PostgreSQL':
      return 'PostgreSQL is down';
    case 'start PostgreSQL':
      return 'PostgreSQL is up';
    case 'keep standby':
      return 'the standby of PostgreSQL gets no commits from here on';
    case 'fail over':
      return `PostgreSQL fails, and after ${seconds(step.downMs)} its standby takes over`;
    case 'break network': {
      const { lostRequests, lostAnswers, lateMs = 0 } = step.faults;
      return `of the workers' requests to PostgreSQL ${share(lostRequests)} get lost, and ${share(lostAnswers)} of its answers; others are up to ${seconds(lateMs)} late`;
    }
    case 'mend network':
      return 'the network works';
  }
}

function behaves({ status, afterMs, retryAfter }: Behavior): string {
  if (status === 0) return 'never responds';
  const wish = retryAfter === undefined ? '' : ` and Retry-After ${retryAfter}`;
  return `responds with ${status}${wish} after ${afterMs} ms`;
}

const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? '' : 's'}`;
export const seconds = (ms: number) => `${(ms / 1_000).toFixed(3)} s`;
export const share = (part: number) => `${Math.round(part * 100)} %`;
