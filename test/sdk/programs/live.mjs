// Prints the ids of live clicks of a link. Run in a folder with the packed SDK by kills.test.ts.
import { Hoplog } from '@hoplog/sdk';

const hoplog = new Hoplog({ key: process.env.HOPLOG_KEY });
for await (const { id } of hoplog.clicks.live({ linkIds: [process.argv[2]] })) console.log(id);
