/**
 * Memory that is handed out in pieces and taken back as a whole: for who works off what they have read before they read on.
 * What a fast reader lets go of otherwise is outside the heap, and each 64 MiB of that is a round of garbage for all of it.
 */
export class Arena {
  readonly #bytes: Buffer;
  #used = 0;

  /** @param bytes what it holds; who asks for more gets memory of their own */
  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** A piece that is nobody else's until {@link reset}; what stands in it is left over. */
  readonly take = (bytes: number): Buffer => {
    if (this.#used + bytes > this.#bytes.length) return Buffer.allocUnsafeSlow(bytes);
    const piece = this.#bytes.subarray(this.#used, this.#used + bytes);
    this.#used += bytes;
    return piece;
  };

  /** Takes all pieces back. */
  reset(): void {
    this.#used = 0;
  }
}
