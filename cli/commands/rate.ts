import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { attributeAnew } from '../../sql/orders/orders-without-rate.ts';
import { type CurrencyRate, deleteRate, listRates, setRate } from '../../sql/workspaces/currency-rates.ts';
import { currency, exchangeRate } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';

type Pair = { currency: string; base: string };

const CURRENCY = 'ISO 4217 code of the currency that orders come in';
const BASE = 'ISO 4217 code of the currency it is converted into';

const MEANING = `
A rate is how many major units of the base one major unit of the currency is worth:
--currency eur --base usd --rate 1.08 makes 1.08 usd of 1 eur. It serves that
direction only: usd to eur takes a rate of its own, and rates are not chained.
The base is a workspace's currency for revenue, and a programme's for commission.
A rate holds for orders attributed and commissions judged from then on, and for
orders that count without revenue because they had none.`;

const describe = (rates: CurrencyRate[]) =>
  table(
    ['currency', 'base', 'rate', 'updated'],
    rates.map((one) => [one.currency, one.base, String(one.rate), one.updated_at.toISOString()]),
  );

/** `hoplog rate set | list | delete`. */
export function rateCommands(program: Command): void {
  const group = program
    .command('rate')
    .description('rates by which orders in other currencies are converted')
    .addHelpText('after', MEANING);
  group
    .command('set')
    .description('set the rate of a pair of currencies, in the place of the one before')
    .requiredOption('--currency <code>', CURRENCY, currency)
    .requiredOption('--base <code>', BASE, currency)
    .requiredOption('--rate <rate>', 'units of the base for one unit of the currency', exchangeRate)
    .addHelpText('after', MEANING)
    .action(async (options: Pair & { rate: number }, command: Command) => {
      if (options.currency === options.base) {
        command.error(
          `error: option '--base <code>' argument '${options.base}' is invalid. must be another currency than --currency`,
        );
      }
      const { currency, base, rate } = options;
      const result = await withStores(async ({ pool }) => ({
        rate: await setRate(pool, { currency, base, rate }),
        orders_attributed_anew: await attributeAnew(pool, currency, base),
      }));
      printResult(command, result, ({ rate: set, orders_attributed_anew: orders }) =>
        orders === 0
          ? describe([set])
          : `${describe([set])}\n\nOrders that counted without revenue and are attributed anew: ${orders}.`,
      );
    });

  group
    .command('list')
    .description('every rate')
    .addHelpText('after', MEANING)
    .action(async (_options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => ({ rates: await listRates(pool) }));
      printResult(command, result, ({ rates }) => describe(rates));
    });

  group
    .command('delete')
    .description('remove the rate of a pair: such orders count without revenue from then on')
    .requiredOption('--currency <code>', CURRENCY, currency)
    .requiredOption('--base <code>', BASE, currency)
    .action(async ({ currency, base }: Pair, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const deleted = await deleteRate(pool, currency, base);
        if (!deleted) throw new AppError('not_found', `there is no rate of ${currency} in ${base}`);
        return { deleted };
      });
      printResult(command, result, ({ deleted }) => `${describe([deleted])}\n\nIt is gone.`);
    });
}
