import { emptyGeo, type Geo, openGeo } from '../../core/enrich/geo.ts';
import type { Logger } from '../../core/tier/log.ts';

/** Cached networks. */
const CAPACITY = 50_000;

/**
 * Locates visitors for links with rules about places. The first of them opens the geography's files, which takes about
 * 6 ms and 16 MiB: most deployments have no such link.
 */
export function createPlaces(log: Pick<Logger, 'info' | 'error'>): Geo {
  let geo: Geo | null = null;

  function opened(): Geo {
    try {
      const { bytes, placeOf } = openGeo({ capacity: CAPACITY });
      log.info({ bytes }, 'opened the geography file for link rules');
      return { placeOf };
    } catch (error) {
      log.error(
        { err: error },
        'failed to open the geography file; link rules by place match no visitor until a restart',
      );
      return emptyGeo();
    }
  }

  return {
    placeOf(address) {
      geo ??= opened();
      return geo.placeOf(address);
    },
  };
}
