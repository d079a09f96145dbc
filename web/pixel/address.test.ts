import { describe, expect, test } from 'vitest';
import { codeIn, takeParameters } from './address.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';

describe('taking the visitor’s id out of an address', () => {
  test.each([
    [`https://a.example/?_vid=${VID}`, 'https://a.example/'],
    [`https://a.example/p?x=1&_vid=${VID}&y=%7E+z`, 'https://a.example/p?x=1&y=%7E+z'],
    [`https://a.example/p?_vid=${VID}&x#_vid=1`, 'https://a.example/p?x#_vid=1'],
    [`https://a.example/p?_vid=${VID}#top?x=1`, 'https://a.example/p#top?x=1'],
    [`https://a.example/p?b=c?d&_vid=${VID}`, 'https://a.example/p?b=c?d'],
    [`/p?_vid=${VID}`, '/p'],
    [`https://a.example/?_vid=junk&_vid=${VID}&_vid=${VID.replace('5b', '6b')}`, 'https://a.example/'],
  ])('%s leaves %s', (href, rest) => {
    const taken = takeParameters(href);
    expect([taken.href, taken._vid, taken.hoplog_test]).toEqual([rest, VID, undefined]);
  });

  test.each([
    'https://a.example/',
    'https://a.example/?',
    'https://a.example/?x_vid=1&vid=2&_vids=3',
    `https://a.example/#?_vid=${VID}`,
    'https://a.example/?a=%zz&&b',
  ])('%s has none and stays as it is', (href) => {
    const taken = takeParameters(href);
    expect([taken.href, taken._vid, taken.hoplog_test]).toEqual([href, undefined, undefined]);
  });

  test.each(['', 'x', VID.toUpperCase(), `${VID}0`, '<script>'])(
    '%j is not an id, and is removed too',
    (value) => {
      const taken = takeParameters(`https://a.example/?a=1&_vid=${value}`);
      expect([taken.href, taken._vid]).toEqual(['https://a.example/?a=1', undefined]);
    },
  );

  test('takes the id of a test too', () => {
    const taken = takeParameters(`https://a.example/?hoplog_test=${VID}&a=1`);
    expect([taken.href, taken._vid, taken.hoplog_test]).toEqual(['https://a.example/?a=1', undefined, VID]);
  });
});

test.each([
  [`https://a.example/?via=anna&_vid=${VID}`, 'https://a.example/?via=anna', 'via=anna'],
  [
    'https://a.example/?a=1&ref=%C3%A4+b#ref=no',
    'https://a.example/?a=1&ref=%C3%A4+b#ref=no',
    'ref=%C3%A4+b',
  ],
  ['https://a.example/?ref=&via=two&ref=three', 'https://a.example/?ref=&via=two&ref=three', 'via=two'],
  ['https://a.example/?aff=anna', 'https://a.example/?aff=anna', undefined],
])('the code of a referrer is found in %s, and stays there', (url, rest, code) => {
  const { href, pieces } = takeParameters(url);
  expect([href, codeIn(pieces, ['ref', 'via'])]).toEqual([rest, code]);
});
