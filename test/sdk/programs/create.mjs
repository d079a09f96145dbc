// Creates a folder, and prints its id. Run in a folder with the packed SDK by kills.test.ts.
import { Hoplog } from '@hoplog/sdk';

const hoplog = new Hoplog({ key: process.env.HOPLOG_KEY });
console.log((await hoplog.folders.create({ name: process.argv[2] })).id);
