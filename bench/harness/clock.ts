/** Offset from this process's clock to the machine's monotonic one, milliseconds. */
const OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Returns milliseconds of a monotonic clock shared by all processes of this machine. */
export function machineNow(): number {
  return performance.now() + OFFSET;
}
