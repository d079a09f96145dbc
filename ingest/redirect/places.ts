import { emptyGeo, type Geo, openGeo } from '../../core/enrich/geo.ts';
import type { Logger } from '../../core/tier/log.ts';

/** Places of visitors, for links whose rules ask. The geography is opened at the first visit of such a link. */
export type Places = Geo & {
  /** Begins to open the geography. Returns null once it is open. */
  opening(): Promise<void> | null;
};

/** Cached networks. */
const CAPACITY = 50_000;

/** @param open opens the geography */
export function createPlaces(
  log: Pick<Logger, 'info' | 'error'>,
  open = () => openGeo({ capacity: CAPACITY }),
): Places {
  let geo: Geo | null = null;
  let opening: Promise<void> | null = null;

  async function begin(): Promise<void> {
    try {
      const opened = await open();
      log.info({ bytes: opened.bytes }, 'opened the geography for rules of links');
      geo = opened;
    } catch (error) {
      log.error({ err: error }, 'failed to open the geography; rules of links know no place until a restart');
      geo = emptyGeo();
    }
  }

  return {
    opening() {
      if (geo !== null) return null;
      opening ??= begin();
      return opening;
    },
    placeOf(address) {
      if (geo === null) throw new Error('the geography is not open: wait for opening()');
      return geo.placeOf(address);
    },
  };
}
