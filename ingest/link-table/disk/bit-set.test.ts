import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBitSet } from './bit-set.ts';

test('it behaves as a set', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(100_000), fc.boolean())), (changes) => {
      const bits = createBitSet();
      const model = new Set<number>();
      for (const [member, stays] of changes) {
        expect(bits.has(member)).toBe(model.has(member));
        bits.add(member);
        model.add(member);
        if (!stays) {
          bits.remove(member);
          model.delete(member);
        }
        for (const near of [member - 1, member, member + 1]) {
          if (near >= 0) expect(bits.has(near)).toBe(model.has(near));
        }
      }
      expect(bits.size).toBe(model.size);
    }),
  );
});
