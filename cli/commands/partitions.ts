import { type Command, InvalidArgumentError } from 'commander';
import { openTopicAdmin } from '../../core/event-log/open.ts';
import { readConfig } from '../../core/settings/config.ts';
import { CommandFailed, printResult } from '../output.ts';

/** `hoplog partitions add`. */
export function partitionCommands(program: Command): void {
  const group = program.command('partitions').description('partitions of the event log in Kafka');
  group
    .command('add <total>')
    .description('raise the number of partitions to a total; running processes use them within a minute')
    .action(async (given: string, _options: object, command: Command) => {
      const result = await raiseTo(totalOf(given));
      printResult(command, result, ({ topic, partitions, added }) =>
        added === 0
          ? `topic ${topic} has ${partitions} partitions already`
          : `topic ${topic} has ${partitions} partitions, ${added} of them new; processes use them within a minute. Set KAFKA_PARTITIONS=${partitions} too`,
      );
    });
}

async function raiseTo(total: number): Promise<{ topic: string; partitions: number; added: number }> {
  const config = readConfig(process.env);
  const { topic } = config.kafka;
  const admin = await openTopicAdmin(config);
  if (admin === null) {
    throw new CommandFailed(
      'KAFKA_BROKERS is empty: the event log is the journal on disk, which has a partition for each process',
    );
  }
  try {
    return { topic, partitions: total, added: total - (await admin.addPartitions(total)) };
  } catch (error) {
    if (error instanceof RangeError) throw new CommandFailed(error.message);
    throw error;
  } finally {
    await admin.close();
  }
}

function totalOf(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new InvalidArgumentError('must be the new total, a number from 1 to 9999.');
  }
  return Number(text);
}
