import { Counter, Gauge, type Registry } from 'prom-client';
import { MAIL_KINDS } from '../../core/mail/contents.ts';

/** Creates the metrics of mail, all named `hoplog_mail_*`. */
export function createMailMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    mails: new Counter({
      name: 'hoplog_mail_finished_total',
      help: 'Finished mails, by kind and by outcome: delivered (to the mail server), failed, or canceled.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
    failures: new Counter({
      name: 'hoplog_mail_failed_attempts_total',
      help: 'Failed attempts to hand a mail to the mail server, those that are retried too.',
      registers,
    }),
    pending: new Gauge({
      name: 'hoplog_mail_pending',
      help: 'Mails that wait or are under way, counted up to 100000.',
      registers,
    }),
  };
  // The series start at 0: a rate does not see one that begins at 1.
  for (const kind of MAIL_KINDS)
    for (const outcome of ['delivered', 'failed', 'canceled']) metrics.mails.inc({ kind, outcome }, 0);
  return metrics;
}
