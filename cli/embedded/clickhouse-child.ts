/**
 * Process of the embedded ClickHouse: runs `clickhouse local` from chDB's library, which serves the HTTP interface
 * until standard input ends, when the parent closes it or exits. `clickhouse.ts` starts it in the directory of its
 * config.xml.
 *
 * Arguments: the library's path.
 */
import { DataType, isNullPointer, load, open } from 'ffi-rs';
import { unmodifiedMappings } from './mappings.ts';

/** Reads standard input to its end, so that the command runs as long as its parent. */
const QUERY = `SYSTEM START LISTEN HTTP; SELECT * FROM file('stdin','LineAsString','line String') FORMAT Null;`;

/** Constant of madvise(2). */
const MADV_DONTNEED = 4;
const ERROR = { library: 'chdb', funcName: 'chdb_result_error', paramsType: [DataType.External] };

const [library] = process.argv.slice(2);
if (library === undefined) throw new Error('usage: clickhouse-child LIBRARY');
const argv = ['clickhouse', '--config-file=config.xml', '--log-level=warning', `--query=${QUERY}`];
open({ library: 'chdb', path: library });
if (process.platform === 'linux') releaseLoadedPages(library);
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

/**
 * Releases the pages that only the dynamic loader has read, 140 MiB, from this process's memory. Pages in use are
 * mapped again from the system's cache.
 */
function releaseLoadedPages(path: string): void {
  open({ library: 'c', path: '' });
  for (const { from, bytes } of unmodifiedMappings(path)) {
    load({
      library: 'c',
      funcName: 'madvise',
      retType: DataType.I32,
      paramsType: [DataType.U64, DataType.U64, DataType.I32],
      paramsValue: [from, bytes, MADV_DONTNEED],
    });
  }
}

/** ffi-rs crashes when it reads a null `char *` as a string, so check the pointer first. */
function hasError(): boolean {
  return !isNullPointer(load({ ...ERROR, retType: DataType.External, paramsValue: [result] }));
}
