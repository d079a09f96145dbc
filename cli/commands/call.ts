import { type Command, InvalidArgumentError } from 'commander';
import { nearestName } from '../../core/text/near-names.ts';
import { OPERATIONS } from '../../sdk/typescript/src/generated/operations.ts';
import type { Operation } from '../../sdk/typescript/src/operation.ts';
import { isJson, printResult, shownLines, table, WrongUsage } from '../output.ts';
import { dataBytes, dataText, jsonData, pairs } from '../user/arguments.ts';
import { writeBody } from '../user/byte-output.ts';
import { callOperation, OPERATION_IDS, type OperationId } from '../user/client.ts';

type CallOptions = { param?: Record<string, string>; data?: string; output?: string };

/** Reads the id of an operation. */
function operationId(text: string): OperationId {
  const id = OPERATION_IDS.find((one) => one === text);
  if (id !== undefined) return id;
  const near = nearestName(text, OPERATION_IDS);
  throw new InvalidArgumentError(
    near === null ? '"hoplog call" lists the operations' : `did you mean ${near}?`,
  );
}

const listed = () =>
  OPERATION_IDS.map((id) => ({ id, method: OPERATIONS[id].method, path: OPERATIONS[id].path }));

/** `hoplog call`. */
export function callCommand(program: Command): void {
  program
    .command('call')
    .description('call any operation of the API, and print its response; without one, list them')
    .argument('[operation]', 'its id, such as links.list', operationId)
    .option('--param <name=value>', 'a parameter of the path or the query; several times', pairs)
    .option('--data <json>', 'body of the request, or @FILE, or @- for standard input')
    .option('--output <file>', 'write the response to this file')
    .action(async (id: OperationId | undefined, options: CallOptions, command: Command) => {
      if (id === undefined) {
        printResult(command, { operations: listed() }, ({ operations }) =>
          table(
            ['operation', 'method', 'path'],
            operations.map((one) => [one.id, one.method, one.path]),
          ),
        );
        return;
      }
      const response = await callOperation(id, requestOf(id, options));
      if (response instanceof Response) {
        await writeBody(response, options.output ?? null);
        return;
      }
      if (options.output !== undefined) {
        await writeBody(Response.json(response), options.output);
        return;
      }
      // Characters that a terminal would interpret become escapes of JSON.
      process.stdout.write(`${shownLines(JSON.stringify(response, null, isJson(command) ? 0 : 2))}\n`);
    });
}

/** Reads `--data` of an operation. */
const BODIES = { json: jsonData, text: dataText, bytes: (data: string) => new Blob([dataBytes(data)]) };

/** Divides the parameters among path and query. @throws {WrongUsage} when one of the path is missing */
function requestOf(id: OperationId, { param = {}, data }: CallOptions) {
  const operation: Operation = OPERATIONS[id];
  const query = { ...param };
  const path = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const value = query[name];
    delete query[name];
    if (value) return value;
    throw new WrongUsage(`${id} needs --param ${name}=...: its path is ${operation.path}`);
  });
  const [unknown] = operation.query ? [] : Object.keys(query);
  if (unknown !== undefined) throw new WrongUsage(`${id} has no parameter ${unknown}`);
  if (data !== undefined && operation.body === undefined) throw new WrongUsage(`${id} takes no --data`);
  if (data === undefined) return { path, query };
  return { path, query, body: BODIES[operation.body ?? 'json'](data) };
}
