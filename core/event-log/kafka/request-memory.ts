import Encoder from 'kafkajs/src/protocol/encoder.js';

/**
 * kafkajs writes a request by copying each part of it into the next larger one, each time into new memory that it has filled with
 * zeros: 6 MiB for a record of 768 KiB. That memory is outside the heap, and the garbage collector looks through all of the heap each
 * time that 64 MiB of it have come together: a shipper under load spent up to half of its CPU time there (`bench/shipper.ts`).
 *
 * So what is written to is not filled first, since nothing of it is read before, and the largest part is used again, since the codec is
 * the last who reads it.
 */

/** Smaller parts are not kept. */
const KEPT_BYTES = 512 * 1024;

let kept: Buffer | null = null;

/** To be called by who has read what was written, when nobody else will: the memory is written over. */
export function giveBack(encoder: Encoder): void {
  if (encoder.buf.length >= KEPT_BYTES) kept = encoder.buf;
}

Encoder.prototype.ensureAvailable = function (this: Encoder, bytes: number) {
  const needed = this.offset + bytes;
  if (needed <= this.buf.length) return;
  const larger = takeKept(needed) ?? Buffer.allocUnsafeSlow(Encoder.nextPowerOfTwo(needed));
  this.buf.copy(larger, 0, 0, this.offset);
  this.buf = larger;
};

function takeKept(needed: number): Buffer | null {
  if (needed < KEPT_BYTES || kept === null || kept.length < needed) return null;
  const taken = kept;
  kept = null;
  return taken;
}
