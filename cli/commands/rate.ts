import type { Command } from 'commander';
import { AppError } from '../../core/errors.ts';
import { attributeAnew } from '../../sql/orders/orders-without-rate.ts';
import { reevaluateWithoutRate } from '../../sql/transactions/reevaluate-purchase.ts';
import { type CurrencyRate, deleteRate, listRates, setRate } from '../../sql/workspaces/currency-rates.ts';
import { currency, exchangeRate } from '../arguments.ts';
import { printResult, table } from '../output.ts';
import { withStores } from '../stores.ts';

type Pair = { currency: string; base: string };

const CURRENCY = 'ISO 4217 code of the order currency';
const BASE = 'ISO 4217 code of the target currency';

const MEANING = `
A rate is the value of one major unit of the currency in major units of the base:
--currency eur --base usd --rate 1.08 converts 1 eur to 1.08 usd. It applies in
that direction only; set usd to eur separately. Rates are not chained.
The base is the workspace's currency for revenue, and the program's for commission.
A new rate applies to later orders and commissions, to orders that were counted
without revenue because they had no rate, and to purchases that earned no commission
because of that.`;

const describe = (rates: CurrencyRate[]) =>
  table(
    ['currency', 'base', 'rate', 'updated'],
    rates.map((one) => [one.currency, one.base, String(one.rate), one.updated_at.toISOString()]),
  );

/** `hoplog rate set | list | delete`. */
export function rateCommands(program: Command): void {
  const group = program
    .command('rate')
    .description('conversion rates for orders in other currencies')
    .addHelpText('after', MEANING);
  group
    .command('set')
    .description('set or replace the rate of a pair of currencies')
    .requiredOption('--currency <code>', CURRENCY, currency)
    .requiredOption('--base <code>', BASE, currency)
    .requiredOption('--rate <rate>', 'value of one unit of the currency in the base', exchangeRate)
    .addHelpText('after', MEANING)
    .action(async (options: Pair & { rate: number }, command: Command) => {
      if (options.currency === options.base) {
        command.error(
          `error: option '--base <code>' argument '${options.base}' is invalid. must differ from --currency`,
        );
      }
      const { currency, base, rate } = options;
      const result = await withStores(async ({ pool }) => ({
        rate: await setRate(pool, { currency, base, rate }),
        orders_reattributed: await attributeAnew(pool, currency, base),
        purchases_reevaluated: await reevaluateWithoutRate(pool, { currency, base }, new Date()),
      }));
      printResult(command, result, (done) =>
        [
          `${describe([done.rate])}\n`,
          done.orders_reattributed > 0 &&
            `Orders without revenue to attribute again: ${done.orders_reattributed}.`,
          done.purchases_reevaluated > 0 &&
            `Purchases without commission, evaluated again: ${done.purchases_reevaluated}.`,
        ]
          .filter(Boolean)
          .join('\n')
          .trimEnd(),
      );
    });

  group
    .command('list')
    .description('list all rates')
    .addHelpText('after', MEANING)
    .action(async (_options: object, command: Command) => {
      const result = await withStores(async ({ pool }) => ({ rates: await listRates(pool) }));
      printResult(command, result, ({ rates }) => describe(rates));
    });

  group
    .command('delete')
    .description('delete the rate of a pair; later orders count without revenue')
    .requiredOption('--currency <code>', CURRENCY, currency)
    .requiredOption('--base <code>', BASE, currency)
    .action(async ({ currency, base }: Pair, command: Command) => {
      const result = await withStores(async ({ pool }) => {
        const deleted = await deleteRate(pool, currency, base);
        if (!deleted) throw new AppError('not_found', `no rate is set for ${currency} in ${base}`);
        return { deleted };
      });
      printResult(command, result, ({ deleted }) => `${describe([deleted])}\n\nThe rate is deleted.`);
    });
}
