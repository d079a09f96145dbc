import { Counter, Gauge, type Registry } from 'prom-client';

/** State and metrics of the children. */
export type ChildMetrics = {
  onChange(name: string, up: boolean): void;
  /** Registers a child or embedded database as down until it is ready. */
  expect(name: string): void;
  /** State of every child and embedded database, by name. */
  states(): Record<string, 'up' | 'down'>;
};

export function childMetrics(registry: Registry): ChildMetrics {
  const registers = [registry];
  const running = new Gauge({
    name: 'hoplog_child_up',
    help: '1 while the child process or embedded database is ready.',
    labelNames: ['child'],
    registers,
  });
  const deaths = new Counter({
    name: 'hoplog_child_deaths_total',
    help: 'Exits of the child process or embedded database.',
    labelNames: ['child'],
    registers,
  });
  const states = new Map<string, 'up' | 'down'>();
  return {
    states: () => Object.fromEntries(states),
    expect(child) {
      states.set(child, 'down');
      running.set({ child }, 0);
    },
    onChange(child, up) {
      states.set(child, up ? 'up' : 'down');
      running.set({ child }, up ? 1 : 0);
      if (!up) deaths.inc({ child });
    },
  };
}
