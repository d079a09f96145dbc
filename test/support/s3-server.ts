import S3rver from 's3rver';
import { freePort } from '../../cli/embedded/free-port.ts';
import { temporaryDirectory } from './process-fixtures.ts';

/** An S3-compatible server, and the settings that name it. */
export type S3Server = { env: NodeJS.ProcessEnv; target: string; close(): Promise<void> };

/** Starts s3rver with one bucket. It checks access keys, but not signatures of version 4. */
export async function startS3(): Promise<S3Server> {
  const directory = temporaryDirectory();
  const port = await freePort();
  const server = new S3rver({
    address: '127.0.0.1',
    port,
    silent: true,
    directory: directory.path,
    configureBuckets: [{ name: 'backups', configs: [] }],
  });
  await server.run();
  return {
    target: 's3://backups/hoplog',
    env: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    },
    async close() {
      await server.close();
      directory.remove();
    },
  };
}
