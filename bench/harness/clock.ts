/** From this process's clock to the machine's monotonic one, milliseconds. */
const OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds on a clock that every process of this machine shares and that never steps. */
export function machineNow(): number {
  return performance.now() + OFFSET;
}
