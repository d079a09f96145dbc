import { seconds, share } from '../webhooks/words.ts';
import type { Step } from './steps.ts';

/** Returns a step in words. */
export function words(step: Step): string {
  switch (step.do) {
    case 'earn':
      return `referrer ${step.referrer} earns a credit`;
    case 'revoke':
      return `credit ${step.nth} is revoked`;
    case 'mark delivered':
      return `the shop marks credit ${step.nth} as delivered`;
    case 'retry delivery':
      return `the shop asks for the delivery of credit ${step.nth} at once`;
    case 'replace fulfilment':
      return `the fulfilment is deleted, and one by ${step.provider} takes its place`;
    case 'create coupon':
      return 'a coupon gets a promotion code';
    case 'delete coupon':
      return `coupon ${step.nth} is deleted`;
    case 'retry coupon':
      return `the shop asks for the promotion code of coupon ${step.nth} again`;
    case 'tie customer':
      return `referrer ${step.referrer} is customer ${step.customer} of Stripe from now on`;
    case 'break Stripe': {
      const { lostRequests, lostAnswers, failsBefore, failsAfter, heldUp, doubled, busy } = step.faults;
      return (
        `of the calls to Stripe ${share(lostRequests)} get lost, ${share(lostAnswers)} of the answers, ` +
        `${share(heldUp)} are held up, ${share(doubled)} come twice, ${share(busy)} are too many, ` +
        `${share(failsBefore)} fail, and ${share(failsAfter)} fail after they have taken effect`
      );
    }
    case 'mend Stripe':
      return 'Stripe works';
    case 'receiver':
      return `the receiver ${step.status === 0 ? 'never responds' : `responds with ${step.status} after ${step.afterMs} ms`}`;
    case 'break receiver':
      return `of the requests to the receiver ${share(step.faults.lostRequests)} get lost, and ${share(step.faults.lostAnswers)} of the answers`;
    case 'wait':
      return `${seconds(step.ms)} pass`;
    case 'stand still':
      return `all machines stand still for ${seconds(step.ms)}`;
    case 'kill worker':
      return step.afterCalls === null
        ? `worker ${step.worker} is killed`
        : `worker ${step.worker} is killed before its ${step.afterCalls + 1}th call from here`;
    case 'pause worker':
      return `worker ${step.worker} stands still for ${seconds(step.ms)} after its ${step.afterCalls + 1}th call from here`;
    case 'break network': {
      const { lostRequests, lostAnswers, lateMs = 0 } = step.faults;
      return `of the workers' statements ${share(lostRequests)} get lost, and ${share(lostAnswers)} of PostgreSQL's answers; others are up to ${seconds(lateMs)} late`;
    }
    case 'mend network':
      return 'the network works';
    case 'restart PostgreSQL':
      return 'PostgreSQL restarts';
  }
}
