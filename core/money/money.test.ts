import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  convertMinor,
  exponentOf,
  halfEven,
  isCurrency,
  MoneyError,
  type MoneyProblem,
  percentOf,
  percentOfConverted,
  roundToMinor,
  splitByLargestRemainder,
  toMajor,
  toMinor,
} from './money.ts';

function problemOf(action: () => unknown): MoneyProblem | null {
  try {
    action();
    return null;
  } catch (error) {
    if (error instanceof MoneyError) return error.problem;
    throw error;
  }
}

describe('currencies', () => {
  test('have the exponent of ISO 4217, in either case', () => {
    expect(['usd', 'EUR', 'jpy', 'krw', 'kwd', 'clf'].map(exponentOf)).toEqual([2, 2, 0, 0, 3, 4]);
  });

  test('are rejected when they are unknown, or not money', () => {
    expect(isCurrency('usd')).toBe(true);
    // The Caribbean guilder, since 2025.
    expect([isCurrency('xcg'), exponentOf('xcg')]).toEqual([true, 2]);
    for (const code of ['', 'us', 'usdx', 'abc', 'xau', 'xxx', 'xts', '__proto__'])
      expect(isCurrency(code)).toBe(false);
    expect(problemOf(() => exponentOf('abc'))).toBe('unknown_currency');
  });
});

describe('major to minor units', () => {
  test.each([
    [19.99, 'usd', 1999],
    [1.1, 'usd', 110],
    [0.07, 'usd', 7],
    [8.2, 'usd', 820],
    [4.35, 'eur', 435],
    [1.005, 'kwd', 1005],
    [500, 'jpy', 500],
    [0, 'usd', 0],
    [-0, 'usd', 0],
    [-19.99, 'usd', -1999],
    [1e2, 'usd', 10_000],
    [9e13, 'usd', 9e15],
    [0.0001, 'clf', 1],
  ])('%d %s is %d', (major, currency, minor) => {
    expect(Object.is(toMinor(major, currency), minor)).toBe(true);
  });

  test('drops a rest below a millionth of the minor unit, which binary arithmetic leaves', () => {
    for (const [major, minor] of [
      [0.1 + 0.2, 30],
      [1.1 * 3, 330],
      [0.7 + 0.1, 80],
      [-0.1 - 0.2, -30],
      [1e-9, 0],
    ] as const)
      expect(toMinor(major, 'usd')).toBe(minor);
    expect(problemOf(() => toMinor(1e-8, 'usd'))).toBe('too_many_decimals');
    expect(problemOf(() => toMinor(0.01 - 1e-8, 'usd'))).toBe('too_many_decimals');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 50 }), (prices) => {
        const sum = prices.reduce((total, price) => total + price / 100, 0);
        expect(toMinor(sum, 'usd')).toBe(prices.reduce((total, price) => total + price, 0));
      }),
    );
  });

  test('rounds where that is asked, also of decimal text', () => {
    for (const [major, currency, minor] of [
      [100 / 3, 'usd', 3_333],
      ['49.90', 'eur', 4_990],
      ['1234.565', 'usd', 123_456],
      ['0.5', 'jpy', 0],
      [1.5, 'jpy', 2],
      ['7', 'kwd', 7_000],
    ] as const)
      expect(roundToMinor(major, currency)).toBe(minor);
    expect(problemOf(() => roundToMinor('9'.repeat(30), 'usd'))).toBe('out_of_range');
  });

  test('rejects more decimals than the currency has', () => {
    expect(problemOf(() => toMinor(19.999, 'usd'))).toBe('too_many_decimals');
    expect(problemOf(() => toMinor(0.5, 'jpy'))).toBe('too_many_decimals');
    expect(problemOf(() => toMinor(1e-7, 'usd'))).toBe('too_many_decimals');
  });

  test('rejects amounts that no integer represents exactly', () => {
    expect(problemOf(() => toMinor(1e14, 'usd'))).toBe('out_of_range');
    expect(problemOf(() => toMinor(1e21, 'jpy'))).toBe('out_of_range');
    expect(problemOf(() => toMinor(Number.NaN, 'usd'))).toBe('not_finite');
    expect(problemOf(() => toMinor(Number.POSITIVE_INFINITY, 'usd'))).toBe('not_finite');
  });

  test('converts back unchanged, for every currency', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc.constantFrom('usd', 'jpy', 'kwd', 'clf', 'eur', 'isk'),
        (minor, currency) => {
          expect(toMinor(toMajor(minor, currency), currency)).toBe(minor);
        },
      ),
    );
  });

  test('reads any amount with the digits that were written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e10 }), fc.integer({ min: 0, max: 99 }), (whole, cents) => {
        const text = `${whole}.${String(cents).padStart(2, '0')}`;
        expect(toMinor(JSON.parse(text) as number, 'usd')).toBe(whole * 100 + cents);
      }),
    );
  });
});

test('prints minor units as the major amount', () => {
  expect(toMajor(1999, 'usd')).toBe(19.99);
  expect(toMajor(-5, 'usd')).toBe(-0.05);
  expect(Object.is(toMajor(0, 'usd'), 0)).toBe(true);
  expect(toMajor(7, 'jpy')).toBe(7);
  expect(toMajor(1005n, 'kwd')).toBe(1.005);
  expect(problemOf(() => toMajor(1.5, 'usd'))).toBe('out_of_range');
  expect(problemOf(() => toMajor(Number.NaN, 'usd'))).toBe('out_of_range');
  expect(toMajor(2 ** 54, 'usd')).toBe(180_143_985_094_819.84);
});

test.each([
  [5n, 2n, 2n],
  [7n, 2n, 4n],
  [-5n, 2n, -2n],
  [-7n, 2n, -4n],
  [5n, -2n, -2n],
  [1n, 3n, 0n],
  [2n, 3n, 1n],
  [0n, 5n, 0n],
  [10n ** 30n + 1n, 2n, 5n * 10n ** 29n],
])('%s / %s rounds half to even to %s', (numerator, denominator, expected) => {
  expect(halfEven(numerator, denominator)).toBe(expected);
});

test('a quotient by zero is rejected', () => {
  expect(() => halfEven(1n, 0n)).toThrow(RangeError);
});

test('half to even is never more than half a unit off, and symmetric', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      (n, d) => {
        const rounded = halfEven(n, d);
        const off = (n - rounded * d) * 2n;
        expect(off <= d && off >= -d).toBe(true);
        if (off === d || off === -d) expect(rounded % 2n).toBe(0n);
        expect(halfEven(-n, d)).toBe(-rounded);
      },
    ),
  );
});

test.each([
  [1999, 20, 400],
  [1000, 12.5, 125],
  [25, 10, 2],
  [35, 10, 4],
  [-25, 10, -2],
  [1, 50, 0],
  [3, 50, 2],
  [1999, 0, 0],
  [3333, 33.33, 1111],
  [100, 1e-7, 0],
])('of %d minor units, %d percent are %d', (minor, percent, expected) => {
  expect(percentOf(minor, percent)).toBe(expected);
});

test('an amount converts by the rate and both exponents', () => {
  expect(convertMinor(1000, 'eur', 'usd', 1.085)).toBe(1085);
  expect(convertMinor(1000, 'jpy', 'usd', 0.0067)).toBe(670);
  expect(convertMinor(1000, 'usd', 'jpy', 149.25)).toBe(1492);
  expect(convertMinor(1500, 'kwd', 'usd', 3.25)).toBe(488);
  expect(convertMinor(1999, 'usd', 'usd', 1)).toBe(1999);
});

describe('a split', () => {
  test('gives the rest to the largest remainders, ties to the earlier', () => {
    expect(splitByLargestRemainder(100, [1, 1, 1])).toEqual([34, 33, 33]);
    expect(splitByLargestRemainder(1999, [1, 1])).toEqual([1000, 999]);
    expect(splitByLargestRemainder(10, [5, 3, 1, 1])).toEqual([5, 3, 1, 1]);
    expect(splitByLargestRemainder(1, [0, 1, 2])).toEqual([0, 0, 1]);
    expect(splitByLargestRemainder(-100, [1, 1, 1])).toEqual([-34, -33, -33]);
    expect(splitByLargestRemainder(0, [3, 4])).toEqual([0, 0]);
  });

  test('rejects weights without a positive one', () => {
    for (const weights of [[], [0], [-1, 2], [0.5], [Number.NaN]]) {
      expect(() => splitByLargestRemainder(10, weights)).toThrow(RangeError);
    }
  });

  test('sums to the whole, with each part less than a unit off its share', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -1e12, max: 1e12 }),
        fc
          .array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 40 })
          .filter((w) => w.some((x) => x > 0)),
        (total, weights) => {
          const parts = splitByLargestRemainder(total, weights);
          expect(parts.reduce((a, b) => a + b, 0)).toBe(total);
          const sum = BigInt(weights.reduce((a, b) => a + b, 0));
          parts.forEach((part, index) => {
            const off = BigInt(part) * sum - BigInt(total) * BigInt(weights[index] ?? 0);
            expect(off < sum && off > -sum).toBe(true);
          });
        },
      ),
    );
  });
});

test('a percentage in another currency is rounded once, not once per step', () => {
  // 0.13 eur at 0.5 is 0.065 (rounds to 0.06); 75 percent of 0.065 is 0.04875 (5), of 0.06 is 0.045 (4).
  expect(percentOfConverted(13, 75, 'eur', 'usd', 0.5)).toBe(5);
  expect(percentOf(convertMinor(13, 'eur', 'usd', 0.5), 75)).toBe(4);
  expect(percentOfConverted(1000, 20, 'jpy', 'usd', 0.0067)).toBe(134);
});

test('a percentage within one currency is the same in both ways', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e9 }),
      fc.integer({ min: 0, max: 10_000 }),
      (minor, basisPoints) => {
        const percent = basisPoints / 100;
        expect(percentOfConverted(minor, percent, 'usd', 'usd', 1)).toBe(percentOf(minor, percent));
      },
    ),
  );
});
