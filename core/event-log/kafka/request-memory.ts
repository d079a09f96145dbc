import Encoder from 'kafkajs/src/protocol/encoder.js';

/**
 * Memory of the client's requests. kafkajs copies each part of a request into the next larger one, each time into new
 * memory filled with zeros: 6 MiB for a record of 768 KiB. V8 collects the whole heap for each 64 MiB of such memory.
 * Here it is not filled, and the largest part is reused once the codec has read it.
 */

/** Smaller buffers are not worth keeping. */
const REUSED_BYTES = 512 * 1024;

let spare: Buffer | null = null;

/** Gives an encoder's memory back. The caller must be its last reader: the memory is overwritten. */
export function giveBack(encoder: Encoder): void {
  if (encoder.buf.length >= REUSED_BYTES) spare = encoder.buf;
}

/** Makes room for `bytes` behind the encoder's offset, as `Encoder.ensureAvailable` of kafkajs does. */
export function ensureAvailable(this: Encoder, bytes: number): void {
  const needed = this.offset + bytes;
  if (needed <= this.buf.length) return;
  const larger = takeSpare(needed) ?? Buffer.allocUnsafeSlow(Encoder.nextPowerOfTwo(needed));
  this.buf.copy(larger, 0, 0, this.offset);
  this.buf = larger;
}

function takeSpare(needed: number): Buffer | null {
  if (needed < REUSED_BYTES || spare === null || spare.length < needed) return null;
  const taken = spare;
  spare = null;
  return taken;
}
