// Stores clicks of a link with the state after them, as the guide says. kills.test.ts runs it in a folder with the packed
// SDK.
import { DatabaseSync } from 'node:sqlite';
import { Hoplog } from '@hoplog/sdk';

const [, , linkId, file] = process.argv;
const database = new DatabaseSync(file);
database.exec('PRAGMA busy_timeout = 5000');
const stored = database.prepare('SELECT state FROM states').get();
const insert = database.prepare('INSERT INTO clicks VALUES (?, ?)');
const hoplog = new Hoplog({ key: process.env.HOPLOG_KEY, retries: 8 });
const poll = hoplog.clicks.poll({
  linkIds: [linkId],
  intervalMs: 100,
  ...(stored && { state: JSON.parse(stored.state) }),
});
for await (const { clicks, state } of poll.batches()) {
  database.exec('BEGIN IMMEDIATE');
  for (const { id, visitor_id } of clicks) insert.run(id, visitor_id);
  database.exec('DELETE FROM states');
  database.prepare('INSERT INTO states VALUES (?)').run(JSON.stringify(state));
  database.exec('COMMIT');
}
