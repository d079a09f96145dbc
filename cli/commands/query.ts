import { type Command, Option } from 'commander';
import { timeZone, wholeNumber } from '../arguments.ts';
import { isJson, printResult, WrongUsage } from '../output.ts';
import { userClient } from '../user/client.ts';
import {
  dimensions,
  metrics,
  order,
  type QueryOptions,
  queryFilter,
  queryOf,
} from '../user/query-request.ts';
import { queryCsv, queryTable } from '../user/query-table.ts';

const HELP = `
Examples:
  hoplog query --by country --days 30
  hoplog query --metrics clicks,revenue --by campaign --filter country=DE --from 2026-10-01 --to 2026-11-01
  hoplog query --metrics clicks --by day --compare
  hoplog query --by link,country --filter referer_host~google --csv > links.csv

A filter is a dimension, one of = (is), != (is not), ~ (contains), !~ (does not contain), and values separated by
commas. "--filter city=" finds what is unknown.`;

/** `hoplog query`. */
export function queryCommand(program: Command): void {
  program
    .command('query')
    .description('show figures by any dimension, with bars on a terminal')
    .option('--metrics <metrics>', 'clicks, visitors, leads, conversions, revenue, ...', metrics, [
      'clicks',
      'visitors',
    ])
    .option('--by <dimensions>', 'at most 3: country, link, campaign, channel, day, ...', dimensions)
    .option('--filter <filter>', 'only such clicks: country=DE,AT; several times, all must hold', queryFilter)
    .option('--days <n>', 'length of the window, 30 by default', wholeNumber(1, 36_500))
    .option('--from <time>', 'start of the window')
    .option('--to <time>', 'end of the window, exclusive; now by default')
    .option('--compare', 'beside the period before the window')
    .option(
      '--time-zone <zone>',
      'IANA time zone of days and hours; that of the workspace by default',
      timeZone,
    )
    .addOption(new Option('--bots <which>', 'clicks of bots').choices(['exclude', 'include', 'only']))
    .option('--order <names>', 'order by these, largest first; +clicks is smallest first', order)
    .option('--limit <n>', 'most rows', wholeNumber(1, 1_000), 50)
    .option('--csv', 'print CSV on standard output')
    .addHelpText('after', HELP)
    .action(async (options: QueryOptions & { csv?: boolean }, command: Command) => {
      if (options.csv && isJson(command)) throw new WrongUsage('--csv and --json exclude each other');
      const hoplog = userClient();
      const query = queryOf(options);
      const result = await hoplog.analytics.query(query);
      if (options.csv) {
        process.stdout.write(queryCsv({ query, result }));
        return;
      }
      if (isJson(command)) {
        printResult(command, result, String);
        return;
      }
      const hasMoney = query.metrics.some((metric) => metric.startsWith('revenue'));
      const currency = hasMoney ? (await hoplog.workspace.get()).currency : 'usd';
      const { isTTY, columns = 80 } = process.stdout;
      const { from, to } = result.window;
      process.stdout.write(`${queryTable({ query, result, currency }, isTTY ? columns : null)}\n`);
      const more = result.total_rows - result.rows.length;
      const window = `${from} to ${to}${more > 0 ? `; ${more} more rows, --limit shows them` : ''}`;
      process.stderr.write(`${window}\n`);
    });
}
