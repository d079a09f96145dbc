import type { Retargeting } from '../../sql/links/link-settings.ts';

export type PixelNetwork = keyof Retargeting;

/** A network's pixel: images that the page loads, or the network's own script. */
export type Pixel = {
  images: string[];
  /** URL of the script. */
  script: string | null;
  /** Origins that the page may load images from, run scripts of, and connect to. */
  origins: { images: string[]; scripts: string[]; connections: string[] };
};

/**
 * Returns a network's pixel for an id that the API validated. Image pixels are those documented for pages without
 * JavaScript; networks without one run their script.
 */
export function pixelOf(network: PixelNetwork, id: string): Pixel {
  switch (network) {
    case 'facebook':
      return image(`https://www.facebook.com/tr?id=${id}&ev=PageView&noscript=1`);
    case 'linkedin':
      return image(`https://px.ads.linkedin.com/collect/?pid=${id}&fmt=gif`);
    case 'x':
      return image(`https://t.co/i/adsct?txn_id=${id}&p_id=Twitter&tw_sale_amount=0&tw_order_quantity=0`);
    case 'pinterest':
      return image(`https://ct.pinterest.com/v3/?event=init&tid=${id}&noscript=1`);
    case 'google':
      return google(id);
    case 'tiktok':
      return script(`https://analytics.tiktok.com/i18n/pixel/events.js?sdkid=${id}&lib=ttq`, [
        'https://analytics.tiktok.com',
      ]);
  }
}

/** Ads accounts have an image; Analytics and Floodlight have only the tag script. */
function google(id: string): Pixel {
  const ads = /^AW-(\d+)$/.exec(id);
  if (ads !== null) {
    return image(
      `https://googleads.g.doubleclick.net/pagead/viewthroughconversion/${ads[1]}/?guid=ON&script=0`,
    );
  }
  return script(`https://www.googletagmanager.com/gtag/js?id=${id}`, [
    'https://www.googletagmanager.com',
    'https://www.google-analytics.com',
  ]);
}

function image(url: string): Pixel {
  return {
    images: [url],
    script: null,
    origins: { images: [new URL(url).origin], scripts: [], connections: [] },
  };
}

function script(url: string, beacons: string[]): Pixel {
  return {
    images: [],
    script: url,
    origins: { images: beacons, scripts: [new URL(url).origin], connections: beacons },
  };
}
