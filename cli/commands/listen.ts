import { type Command, InvalidArgumentError } from 'commander';
import type { TriggeredEvent } from '../../sdk/typescript/src/generated/types.ts';
import { isJson, printResult, shownLines } from '../output.ts';
import { given, names, objectData } from '../user/arguments.ts';
import { callOperation } from '../user/client.ts';
import { forward } from '../user/forward.ts';
import { keepListening, type Ready, type Sent } from '../user/listening.ts';

type ListenCommand = { forwardTo: URL; events?: string[]; skipVerify?: boolean; printSecret?: boolean };

/** `hoplog listen | trigger`. */
export function listenCommands(program: Command): void {
  program
    .command('listen')
    .description('forward signed events to a program on this machine, until it is interrupted')
    .requiredOption(
      '--forward-to <url>',
      'address that gets each event, such as http://localhost:4000/hook',
      address,
    )
    .option('--events <types>', 'only events of these types, separated by commas', names)
    .option('--skip-verify', 'accept any certificate of the address')
    .option('--print-secret', 'print the signing secret alone in the first line')
    .action(listen);

  program
    .command('trigger')
    .description('send an example of an event, marked as a test, to listeners and webhooks')
    .argument('<type>', 'type of the event, such as sale.created')
    .option('--data <json>', 'fields of its data as JSON, or @FILE, or @- for standard input')
    .action(async (type: string, { data }: { data?: string }, command: Command) => {
      const body = { type, ...(data !== undefined && { data: objectData(data) }) };
      const event = (await callOperation('webhooks.trigger', {
        path: [],
        query: {},
        body,
      })) as TriggeredEvent;
      printResult(command, event, ({ id }) => `sent ${event.type}, id ${id}`);
    });
}

/** Reads an address. */
function address(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('must be a URL that begins with http:// or https://');
}

async function listen(options: ListenCommand, command: Command): Promise<void> {
  const events = options.events?.join(',');
  await keepListening({
    open: (after) =>
      callOperation('webhooks.listen', { path: [], query: given({ events, after }) }) as Promise<Response>,
    onReady: (ready) => sayReady(ready, options, command),
    onEvent: (sent) => pass(sent, options, command),
    note: (text) => void process.stderr.write(`${shownLines(`hoplog: ${text}`)}\n`),
  });
}

function sayReady(
  { secret, events }: Ready,
  { forwardTo, printSecret }: ListenCommand,
  command: Command,
): void {
  if (isJson(command)) print(JSON.stringify({ secret, events, forward_to: forwardTo.href }));
  else if (printSecret) print(secret);
  else print(`signing secret ${secret}\nforwarding ${events.length} types of events to ${forwardTo.href}`);
}

/** Forwards one event, and prints its outcome in a line. */
async function pass(
  sent: Sent,
  { forwardTo, skipVerify = false }: ListenCommand,
  command: Command,
): Promise<void> {
  const { id, type } = sent;
  const began = performance.now();
  const outcome = await forward(forwardTo, sent, { isTrusting: skipVerify }).then(
    (status) => ({ status, error: null }),
    (error: Error) => ({ status: null, error: messageOf(error) }),
  );
  const ms = Math.round(performance.now() - began);
  if (isJson(command)) print(JSON.stringify({ id, type, ...outcome, ms }));
  else print(shownLines(`${type}  ${id}  ${outcome.status ?? outcome.error}  ${ms} ms`));
}

/** Of several addresses of a host each error has its own message. */
function messageOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join('; ');
  return error.message || error.name;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);
