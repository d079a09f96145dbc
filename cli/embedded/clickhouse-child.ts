/**
 * Process of the embedded ClickHouse: runs `clickhouse local` from chDB's library, which serves the HTTP interface
 * until standard input ends, when the parent closes it or exits. `clickhouse.ts` starts it in the directory of its
 * config.xml.
 *
 * Arguments: the library's path.
 */
import { DataType, isNullPointer, load, open } from 'ffi-rs';

/** Reads standard input to its end, so that the command runs as long as its parent. */
const QUERY = `SYSTEM START LISTEN HTTP; SELECT * FROM file('stdin','LineAsString','line String') FORMAT Null;`;

const ERROR = { library: 'chdb', funcName: 'chdb_result_error', paramsType: [DataType.External] };

const [library] = process.argv.slice(2);
if (library === undefined) throw new Error('usage: clickhouse-child LIBRARY');
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

/** ffi-rs crashes when it reads a null `char *` as a string, so check the pointer first. */
function hasError(): boolean {
  return !isNullPointer(load({ ...ERROR, retType: DataType.External, paramsValue: [result] }));
}
