/**
 * A process that sends mails until it is killed: `killed-mailer.ts <database url> <mail server> [step]`. With a step it
 * ends itself when a mail reaches it.
 */

import { createPool } from '../../sql/database/pool.ts';
import { startMailer } from './mail-bench.ts';

const [databaseUrl = '', url = '', step = ''] = process.argv.slice(2);
startMailer(createPool(databaseUrl), url, {
  onStep(reached) {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  },
});
