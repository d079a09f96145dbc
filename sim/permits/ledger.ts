import { Violation } from '../history.ts';

/** The response to a visitor of a link with `max_clicks`. */
export type Outcome = 'redirected' | 'spent' | 'unavailable';

type Limited = {
  /** The present `max_clicks`, and the highest so far. */
  maxClicks: number;
  highest: number;
  wasLowered: boolean;
  stored: Set<string>;
  redirected: Set<string>;
};

/** Records what visitors and the worker saw of links with `max_clicks`, and checks the invariants. */
export class PermitLedger {
  /** The first invariant that broke while clicks were stored. */
  violation: Violation | null = null;
  /** Redirected visitors whose click a power cut may have taken. */
  readonly excused = new Set<string>();
  readonly #links = new Map<string, Limited>();
  #visitors = 0;

  get visitors(): number {
    return this.#visitors;
  }

  setLimit(linkId: string, maxClicks: number): void {
    const link = this.#links.get(linkId);
    if (!link) {
      const none = { stored: new Set<string>(), redirected: new Set<string>() };
      this.#links.set(linkId, { maxClicks, highest: maxClicks, wasLowered: false, ...none });
      return;
    }
    link.wasLowered ||= maxClicks < link.maxClicks;
    link.maxClicks = maxClicks;
    link.highest = Math.max(link.highest, maxClicks);
  }

  nextVisitor(): string {
    return `v${this.#visitors++}`;
  }

  answered(linkId: string, visitor: string, outcome: Outcome): void {
    if (outcome === 'redirected') this.#of(linkId).redirected.add(visitor);
  }

  /** Notes that clicks with a response that are not stored yet may be lost. */
  excuse(): void {
    for (const { redirected, stored } of this.#links.values()) {
      for (const visitor of redirected) if (!stored.has(visitor)) this.excused.add(visitor);
    }
  }

  /** Records a click that used a permit, once the worker has stored it. */
  stored(linkId: string, visitor: string): void {
    const link = this.#of(linkId);
    if (link.stored.has(visitor)) {
      this.violation ??= new Violation(
        'an answered click is stored exactly once',
        `${visitor} is stored twice`,
      );
    }
    link.stored.add(visitor);
    if (link.stored.size > link.highest) {
      this.violation ??= new Violation(
        'permits used never exceed max_clicks',
        `${visitor} is visitor ${link.stored.size} of a link with ${link.highest}`,
      );
    }
  }

  /** Whether the click of each redirected visitor is stored, except those that a power cut may have taken. */
  isStored(): boolean {
    return [...this.#links.values()].every(({ stored, redirected }) =>
      [...redirected].every((visitor) => stored.has(visitor) || this.excused.has(visitor)),
    );
  }

  /** Checks what must hold once every process reports that the permits are spent. */
  check(): void {
    for (const { maxClicks, stored, redirected, wasLowered } of this.#links.values()) {
      for (const visitor of redirected) {
        if (!stored.has(visitor) && !this.excused.has(visitor)) {
          throw new Violation(
            'an answered click is stored exactly once',
            `${visitor} was redirected and is not stored`,
          );
        }
      }
      if (stored.size < maxClicks || (stored.size > maxClicks && !wasLowered)) {
        throw new Violation(
          'every permit is used in the end',
          `${stored.size} of ${maxClicks} were used when visitors were told that none is left`,
        );
      }
    }
  }

  #of(linkId: string): Limited {
    const link = this.#links.get(linkId);
    if (!link) throw new Error(`no link ${linkId}`);
    return link;
  }
}
