/**
 * The process that is the embedded ClickHouse: loads chDB's library and hands it the command line of
 * `clickhouse local`, which then serves ClickHouse's HTTP interface until standard input ends. That is
 * when the parent closes it or dies. Started by `clickhouse.ts` in a directory with the config.xml that it loads.
 *
 * Arguments: the library's path.
 */
import { DataType, isNullPointer, load, open } from 'ffi-rs';

/** Keeps the command alive, and ends it with its parent: a query that reads standard input to its end. */
const QUERY = `SYSTEM START LISTEN HTTP; SELECT * FROM file('stdin','LineAsString','line String') FORMAT Null;`;

const ERROR = { library: 'chdb', funcName: 'chdb_result_error', paramsType: [DataType.External] };

const [library] = process.argv.slice(2);
if (library === undefined) throw new Error('usage: clickhouse-child.ts LIBRARY');
const argv = ['clickhouse', '--config-file=config.xml', '--log-level=warning', `--query=${QUERY}`];
open({ library: 'chdb', path: library });
const result = load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
});
if (hasError()) {
  process.stderr.write(`${load({ ...ERROR, retType: DataType.String, paramsValue: [result] })}\n`);
  process.exit(1);
}
process.exit(0);

/** ffi-rs reads a null `char *` as a string and crashes, so ask for the bare pointer first. */
function hasError(): boolean {
  return !isNullPointer(load({ ...ERROR, retType: DataType.External, paramsValue: [result] }));
}
