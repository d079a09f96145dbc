import { statfs } from 'node:fs/promises';

/** Free space and file names (inodes) of a volume, and whether they are low. */
export type DiskStatus = { isLow: boolean; detail: string };

const GIB = 2 ** 30;
/** Free bytes or inodes below this share, or bytes below {@link LEAST_BYTES}, count as low. */
const LEAST_SHARE = 0.05;
const LEAST_BYTES = GIB;

/** Returns the free space of the volume of a directory; null when this machine has no such directory. */
export async function diskStatus(directory: string): Promise<DiskStatus | null> {
  const volume = await statfs(directory).catch(() => null);
  return volume && describeVolume(volume);
}

/** @param volume as `statfs` returns it; file systems without inodes have 0 of 0 */
export function describeVolume(volume: {
  bsize: number;
  blocks: number;
  bavail: number;
  files: number;
  ffree: number;
}): DiskStatus {
  const bytes = volume.bavail * volume.bsize;
  const share = volume.bavail / volume.blocks;
  const inodes = volume.files === 0 ? 1 : volume.ffree / volume.files;
  const isLow = share < LEAST_SHARE || bytes < LEAST_BYTES || inodes < LEAST_SHARE;
  const detail = `${(bytes / GIB).toFixed(1)} GiB (${percent(share)}) and ${percent(inodes)} of inodes free`;
  return { isLow, detail: isLow ? `low: ${detail}; below 5 % or 1 GiB` : detail };
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
