import { expect, test } from 'vitest';
import { deviceOf, isMobile } from './devices.ts';

test.each([
  [
    'desktop',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  ],
  [
    'desktop',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15',
  ],
  ['desktop', 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0'],
  ['desktop', 'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/130.0.0.0 Safari/537.36'],
  ['desktop', 'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Tablet PC 2.0)'],
  [
    'mobile',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1',
  ],
  [
    'mobile',
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  ],
  ['mobile', 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0'],
  [
    'mobile',
    'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; Lumia 950) AppleWebKit/537.36 Mobile Safari/537.36 Edge/15.15063',
  ],
  ['mobile', 'Opera/9.80 (J2ME/MIDP; Opera Mini/9.80/190.332; U; en) Presto/2.5.25 Version/10.54'],
  ['mobile', 'Mozilla/5.0 (Mobile; LYF/F90M; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.0'],
  ['mobile', 'Mozilla/5.0 (BB10; Touch) AppleWebKit/537.10+ Version/10.0.9.2372 Mobile Safari/537.10+'],
  [
    'tablet',
    'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1',
  ],
  [
    'tablet',
    'Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  ],
  [
    'tablet',
    'Mozilla/5.0 (Linux; Android 9; SM-T510) AppleWebKit/537.36 Chrome/108.0.0.0 Mobile Safari/537.36',
  ],
  [
    'tablet',
    'Mozilla/5.0 (Linux; Android 11; KFTRWI) AppleWebKit/537.36 Silk/120.1 like Chrome/120 Safari/537.36',
  ],
  ['tablet', 'Mozilla/5.0 (Android 14; Tablet; rv:130.0) Gecko/130.0 Firefox/130.0'],
  [
    'tv',
    'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 SamsungBrowser/4.0 Chrome/76 TV Safari/537.36',
  ],
  [
    'tv',
    'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/87.0.4280.88 Safari/537.36 WebAppManager',
  ],
  [
    'tv',
    'Mozilla/5.0 (Linux; Android 9; AFTKA Build/PS7242) AppleWebKit/537.36 Chrome/100 Mobile Safari/537.36',
  ],
  ['tv', 'AppleTV11,1/11.1'],
  ['tv', 'Roku/DVP-9.10 (519.10E04111A)'],
  [
    'console',
    'Mozilla/5.0 (PlayStation; PlayStation 5/6.50) AppleWebKit/605.1.15 Version/15.4 Safari/605.1.15',
  ],
  [
    'console',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) AppleWebKit/537.36 Edge/44.18363.8131',
  ],
  [
    'console',
    'Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/609.4 NF/6.0.2.21.3 NintendoBrowser/5.1',
  ],
  ['wearable', 'Mozilla/5.0 (Apple Watch; CPU Watch OS 9_0 like Mac OS X) AppleWebKit/605.1.15'],
  ['wearable', 'Mozilla/5.0 (Linux; Android 11; SM-R860) AppleWebKit/537.36 Mobile Safari/537.36'],
  [
    'wearable',
    'Mozilla/5.0 (X11; Linux x86_64; Quest 2) AppleWebKit/537.36 OculusBrowser/30.0 Chrome/118 VR Safari/537.36',
  ],
  ['mobile', '[FBAN/FB4A;FBAV/450.0.0.38.108;FBMF/Google;FBDV/Pixel 7;FBSV/13]'],
  ['mobile', '[FBAN/Orca-Android;FBAV/444.0.0.21.111;FBMF/samsung;FBDV/SM-G991B;FBSV/13]'],
  ['mobile', '[FBAN/FBIOS;FBAV/450.0.0.38.108;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.5]'],
  ['tablet', '[FBAN/FBIOS;FBAV/450.0.0.38.108;FBDV/iPad13,1;FBMD/iPad;FBSN/iPadOS;FBSV/17.5]'],
  ['tablet', '[FBAN/FB4A;FBAV/450.0.0.38.108;FBMF/samsung;FBDV/SM-X700;FBSV/13]'],
  ['other', 'curl/8.9.1'],
  ['other', 'Mozilla/5.0'],
  ['other', ''],
])('a %s is recognized by %s', (device, userAgent) => {
  expect(deviceOf(userAgent)).toBe(device);
  expect(isMobile(userAgent)).toBe(['mobile', 'tablet', 'wearable'].includes(device));
});

test('a user agent of any length takes a bounded time and keeps its device', () => {
  const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)';
  expect(deviceOf(phone + ' Tizen'.repeat(100_000))).toBe('mobile');
});
