import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptedEncodings, addVary } from '../assets.ts';
import type { Api } from '../dependencies.ts';

/** Shorter answers fit into a packet as they are. Characters. */
const WORTH_IT = 1_400;
/** As small as the default makes lists of ids, within 3 %, in less time. */
const LEVEL = 2;

const compress = promisify(gzip);

/** Compresses long JSON answers for who reads gzip, outside the thread that answers. Lists become a tenth. */
export function addCompression(app: Api): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < WORTH_IT) return payload;
    if (reply.hasHeader('content-encoding')) return payload;
    if (!String(reply.getHeader('content-type')).startsWith('application/json')) return payload;
    addVary(reply, 'Accept-Encoding');
    if (!acceptedEncodings(request.headers['accept-encoding']).includes('gzip')) return payload;
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return compress(payload, { level: LEVEL });
  });
}
