/**
 * A program that runs as another user of the machine. Standard input: `{ ports, user, queries }`; standard output:
 * every outcome, by port, and the id of the user that tried.
 */
import { text } from 'node:stream/consumers';
import { type Outcome, strangerAttempts, tryAll } from './stranger-attempts.ts';

type Given = { ports: number[]; user: string; queries: string[] };
export type Tried = { uid: number | undefined; outcomes: Record<string, Outcome[]> };

const { ports, user, queries } = JSON.parse(await text(process.stdin)) as Given;
const attempts = strangerAttempts(user, queries);
const outcomes: Record<string, Outcome[]> = {};
for (const port of ports) outcomes[port] = await tryAll(port, attempts);
process.stdout.write(JSON.stringify({ uid: process.getuid?.(), outcomes } satisfies Tried));
