import { expect, test } from 'vitest';
import { centerOf } from './shape-centers.ts';
import { WORLD_SHAPES, WORLD_SIZE } from './world-shapes.ts';

test('the center of a square, of the larger of two parts, and of a line', () => {
  expect(centerOf('M10,10l4,0 0,4-4,0z')).toEqual([12, 12]);
  expect(centerOf('M100,100l1,0 0,1-1,0zM10,10l4,0 0,4-4,0z')).toEqual([12, 12]);
  expect(centerOf('M10,20l4,0z')).toEqual([10, 20]);
});

test('every country has its center on the map, France in Europe', () => {
  const [width, height] = WORLD_SIZE;
  for (const [code, path] of Object.entries(WORLD_SHAPES)) {
    const [x, y] = centerOf(path);
    expect([code, x > 0 && x < width && y > 0 && y < height]).toEqual([code, true]);
  }
  const [x] = centerOf(WORLD_SHAPES.FR ?? '');
  const [germany] = centerOf(WORLD_SHAPES.DE ?? '');
  expect(Math.abs(x - germany)).toBeLessThan(50);
});
