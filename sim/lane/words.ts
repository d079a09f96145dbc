import type { Step } from './steps.ts';

/** Returns a step in words. */
export function words(step: Step): string {
  switch (step.do) {
    case 'click': {
      const bad = [
        ...(step.malformed > 0 ? [`${step.malformed} malformed`] : []),
        ...(step.poisoned > 0 ? [`${step.poisoned} that ClickHouse refuses`] : []),
      ];
      const of = bad.length > 0 ? `, ${bad.join(' and ')}` : '';
      return `${step.clicks} click${step.clicks === 1 ? ' comes' : 's come'} to stream ${step.stream}${of}`;
    }
    case 'wait':
      return `${seconds(step.ms)} pass`;
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
      return `the clock of worker-${step.worker} is ${offset(step.ms)}`;
    case 'set clock of PostgreSQL':
      return `the clock of PostgreSQL is ${offset(step.ms)}`;
    case 'sleep':
      return `all machines sleep for ${seconds(step.ms)}`;
    case 'stop':
      return `${step.server} is down`;
    case 'start':
      return `${step.server} is up`;
    case 'crash PostgreSQL':
      return 'PostgreSQL crashes and recovers';
    case 'fail PostgreSQL over':
      return `PostgreSQL is down for ${seconds(step.ms)}, and goes back to an older state`;
    case 'break ClickHouse':
      return `ClickHouse: ${listed(step.faults)}`;
    case 'mend ClickHouse':
      return 'ClickHouse stores as it should';
    case 'break network':
      return `the network to ${step.server}: ${listed(step.faults)}`;
    case 'mend network':
      return 'the networks are whole';
    case 'cut off':
      return `worker-${step.worker} is cut off: ${step.what} of ${step.server} get lost`;
    case 'stop log':
      return 'the log does not respond';
    case 'start log':
      return 'the log responds';
    case 'leader behind':
      return `the leader of partition ${step.partition} lacks ${step.records} records for ${seconds(step.ms)}`;
    case 'truncate log':
      return `partition ${step.partition} is truncated up to its last ${step.records} records`;
    case 'damage log':
      return `a record of partition ${step.partition} is damaged`;
    case 'repeat batches':
      return `the writer of stream ${step.stream} sends its last ${step.batches} batches again`;
    case 'restart writer':
      return `the writer of stream ${step.stream} starts again`;
    case 'add partitions':
      return `the log has ${step.total} partitions`;
    case 'start stream':
      return 'a new stream begins';
  }
}

function listed(faults: object): string {
  return Object.entries(faults)
    .filter(([, value]) => value !== 0)
    .map(
      ([name, value]) => `${name} ${name.endsWith('Ms') ? seconds(value) : `${Math.round(value * 100)} %`}`,
    )
    .join(', ');
}

function offset(ms: number): string {
  if (ms === 0) return 'set right';
  return `set ${seconds(Math.abs(ms))} ${ms > 0 ? 'ahead' : 'behind'}`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`;
}
