import { ADDRESS_BYTES, type AddressSealer } from '../../events/address-seal.ts';
import { createEventEncoder, type EventEncoder, type Pad } from '../../events/codec.ts';
import type { Unstamped } from '../../events/types.ts';
import { uuidToBytes } from '../../ids.ts';
import { FRAME_HEADER_BYTES, sealFrame } from './frame.ts';

const PADS = 4096;

/**
 * The batch of the running event-loop turn. Events are encoded straight into the frame that will be written.
 * Sequences are assigned here: counters of one epoch, contiguous over batches. A discarded batch returns its
 * sequences to the next one, since no reader has seen them.
 */
export class BatchBuffer {
  readonly #streamId: string;
  readonly #streamIdBytes: Buffer;
  readonly #sealer: AddressSealer;
  readonly #base: bigint;
  readonly #encode: EventEncoder = createEventEncoder();
  readonly #frame: Buffer;
  readonly #pad: Pad = { bytes: Buffer.alloc(0), position: 0 };
  #padsFrom = 0;
  #end = FRAME_HEADER_BYTES;
  #firstCounter = 0;
  #count = 0;
  #minTs = 0;
  #maxTs = 0;

  constructor(streamId: string, epoch: number, maxPayloadBytes: number, sealer: AddressSealer) {
    this.#streamId = streamId;
    this.#streamIdBytes = uuidToBytes(streamId);
    this.#sealer = sealer;
    this.#base = BigInt(epoch) << 40n;
    this.#frame = Buffer.alloc(FRAME_HEADER_BYTES + maxPayloadBytes);
  }

  get count(): number {
    return this.#count;
  }

  get frameBytes(): number {
    return this.#end;
  }

  /**
   * Adds an event if it fits.
   *
   * @returns its sequence, or null when the batch has no room for it
   * @throws TypeError when the event does not match its type; the batch is unchanged
   */
  add(event: Unstamped, ts: number): bigint | null {
    const counter = this.#firstCounter + this.#count;
    if (event.kind === 'click') this.#turnPads(counter);
    const end = this.#encode(event, ts, this.#pad, this.#frame, this.#end);
    if (end < 0) return null;
    if (this.#count === 0) this.#minTs = ts;
    this.#maxTs = ts;
    this.#end = end;
    this.#count += 1;
    return this.#base + BigInt(counter);
  }

  get nextSequence(): bigint {
    return this.#base + BigInt(this.#firstCounter + this.#count);
  }

  /** Returns the batch as a frame for the logical offset `offset`, valid until the next event is added. */
  frame(offset: bigint): Buffer {
    const header = {
      offset,
      firstSequence: this.#base + BigInt(this.#firstCounter),
      count: this.#count,
      minTs: this.#minTs,
      maxTs: this.#maxTs,
    };
    sealFrame(this.#frame, this.#streamIdBytes, header, this.#end - FRAME_HEADER_BYTES);
    return this.#frame.subarray(0, this.#end);
  }

  next(): void {
    this.#firstCounter += this.#count;
    this.discard();
  }

  discard(): void {
    this.#count = 0;
    this.#end = FRAME_HEADER_BYTES;
  }

  #turnPads(counter: number): void {
    const index = counter - this.#padsFrom;
    if (index < 0 || (index + 1) * ADDRESS_BYTES > this.#pad.bytes.length) {
      this.#pad.bytes = this.#sealer.pads(this.#streamId, this.#base + BigInt(counter), PADS);
      this.#padsFrom = counter;
      this.#pad.position = 0;
      return;
    }
    this.#pad.position = index * ADDRESS_BYTES;
  }
}
