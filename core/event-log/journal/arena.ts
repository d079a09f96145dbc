/**
 * Hands out memory in pieces and reuses all of it at once, for a reader that is done with one read before the next. New
 * buffers would be costly: they lie outside the heap, and V8 collects the whole heap for each 64 MiB of them.
 */
export class Arena {
  readonly #bytes: Buffer;
  #used = 0;

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** Returns memory that belongs to the caller until {@link reset}. It is not zeroed. */
  readonly take = (bytes: number): Buffer => {
    if (this.#used + bytes > this.#bytes.length) return Buffer.allocUnsafeSlow(bytes);
    const piece = this.#bytes.subarray(this.#used, this.#used + bytes);
    this.#used += bytes;
    return piece;
  };

  /** Takes all pieces back. They must not be read any more. */
  reset(): void {
    this.#used = 0;
  }
}
