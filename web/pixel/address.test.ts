import { describe, expect, test } from 'vitest';
import { takeParameters } from './address.ts';

const VID = '5b104370-c9bd-8db2-8a30-83f8041ed7fd';

describe('taking the visitor’s id out of an address', () => {
  test.each([
    [`https://a.example/?_vid=${VID}`, 'https://a.example/'],
    [`https://a.example/p?x=1&_vid=${VID}&y=%7E+z`, 'https://a.example/p?x=1&y=%7E+z'],
    [`https://a.example/p?_vid=${VID}&x#_vid=1`, 'https://a.example/p?x#_vid=1'],
    [`https://a.example/p?_vid=${VID}#top?x=1`, 'https://a.example/p#top?x=1'],
    [`/p?_vid=${VID}`, '/p'],
    [`https://a.example/?_vid=junk&_vid=${VID}&_vid=${VID.replace('5b', '6b')}`, 'https://a.example/'],
  ])('%s leaves %s', (href, rest) => {
    expect(takeParameters(href)).toEqual({ href: rest, visitorId: VID, test: null, code: null });
  });

  test.each([
    'https://a.example/',
    'https://a.example/?',
    'https://a.example/?x_vid=1&vid=2&_vids=3',
    `https://a.example/#?_vid=${VID}`,
    'https://a.example/?a=%zz&&b',
  ])('%s has none and stays as it is', (href) => {
    expect(takeParameters(href)).toEqual({ href, visitorId: null, test: null, code: null });
  });

  test.each(['', 'x', VID.toUpperCase(), `${VID}0`, '<script>'])(
    '%j is not an id, and is removed too',
    (value) => {
      expect(takeParameters(`https://a.example/?a=1&_vid=${value}`)).toEqual({
        href: 'https://a.example/?a=1',
        visitorId: null,
        test: null,
        code: null,
      });
    },
  );

  test('takes the id of a test too', () => {
    expect(takeParameters(`https://a.example/?hoplog_test=${VID}&a=1`)).toEqual({
      href: 'https://a.example/?a=1',
      visitorId: null,
      test: VID,
      code: null,
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
    ['https://a.example/?aff=anna', 'https://a.example/?aff=anna', null],
  ])('finds the code of a referrer in %s, and leaves it there', (href, rest, code) => {
    expect(takeParameters(href, ['ref', 'via'])).toMatchObject({ href: rest, code });
  });
});
