// Prints the ids of each page of links, a page a line. Run in a folder with the packed SDK by kills.test.ts.
import { Hoplog } from '@hoplog/sdk';

const hoplog = new Hoplog({ key: process.env.HOPLOG_KEY, retries: 8 });
for await (const { links } of hoplog.links.list({ channel: 'slack', limit: 25 }).pages()) {
  console.log(JSON.stringify(links.map(({ id }) => id)));
}
