import { Counter, Gauge, type Registry } from 'prom-client';
import { FULFILMENT_PROVIDERS } from '../../core/referrals/fulfilment.ts';

export type FulfilmentMetrics = ReturnType<typeof createFulfilmentMetrics>;

/** Creates the metrics of fulfilments, all named `hoplog_fulfilment_*`. */
export function createFulfilmentMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    deliveries: new Counter({
      name: 'hoplog_fulfilment_deliveries_total',
      help: 'Finished deliveries of credits, by provider and by outcome: delivered, failed, or canceled.',
      labelNames: ['provider', 'outcome'] as const,
      registers,
    }),
    pending: new Gauge({
      name: 'hoplog_fulfilment_pending',
      help: 'Credits that wait for their delivery, counted up to 100000.',
      registers,
    }),
  };
  // The series start at 0: a rate does not see one that begins at 1.
  for (const provider of FULFILMENT_PROVIDERS)
    for (const outcome of ['delivered', 'failed', 'canceled'])
      metrics.deliveries.inc({ provider, outcome }, 0);
  return metrics;
}
