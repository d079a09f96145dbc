import type { CreatableChannel } from './channels.ts';

/**
 * Names under many country domains: the labels before the public suffix, and the channel. A host matches when it is,
 * or ends in, one of these followed by one of {@link COUNTRY_SUFFIXES}.
 */
export const COUNTRY_HOSTS: ReadonlyArray<readonly [label: string, channel: CreatableChannel]> = [
  ['google', 'website'],
  ['maps.google', 'google_business'],
  ['mail.google', 'newsletter'],
  ['mail.yahoo', 'newsletter'],
  ['yahoo', 'website'],
  ['yandex', 'website'],
  ['blogspot', 'website'],
  ['pinterest', 'pinterest'],
];

/** Public suffixes under which Google, Yahoo, Blogger and Pinterest have country sites. */
export const COUNTRY_SUFFIXES: readonly string[] = (
  'ac ad ae al am as at az ba be bf bg bi bj bs bt by ca cat cc cd cf cg ch ci cl cm cn com cv cz de dj ' +
  'dk dm dz ec ee es fi fm fr ga gd ge gf gg gl gm gp gr gy hn hr ht hu ie im in info io iq is it je jo ' +
  'jp kg ki kr kz la li lk lt lu lv md me mg mk ml mn ms mu mv mw mx ne nl no nr nu nz ph pl pn ps pt ' +
  'ro rs ru rw sc se sg sh si sk sm sn so sr st td tg tl tm tn to tt tw ua uk us uz vg vn vu ws co.ao ' +
  'co.at co.bw co.ck co.cr co.hu co.id co.il co.in co.jp co.ke co.kr co.ls co.ma co.mz co.nz co.th ' +
  'co.tz co.ug co.uk co.uz co.ve co.vi co.za co.zm co.zw com.af com.ag com.ai com.ar com.au com.bd ' +
  'com.bh com.bn com.bo com.br com.by com.bz com.co com.cu com.cy com.do com.ec com.eg com.et com.fj ' +
  'com.gh com.gi com.gt com.hk com.jm com.kh com.kw com.lb com.lc com.ly com.mm com.mt com.mx com.my ' +
  'com.na com.ng com.ni com.np com.om com.pa com.pe com.pg com.ph com.pk com.pr com.py com.qa com.sa ' +
  'com.sb com.sg com.sl com.sv com.tj com.tn com.tr com.tw com.ua com.uy com.vc com.vn'
).split(' ');

/** First labels that name a service on any host: `webmail.example.org`, `mastodon.example.org`. */
export const FIRST_LABELS: ReadonlyArray<readonly [label: string, channel: CreatableChannel]> = [
  ['webmail', 'newsletter'],
  ['webmail2', 'newsletter'],
  ['mail', 'newsletter'],
  ['email', 'newsletter'],
  ['newsletter', 'newsletter'],
  ['roundcube', 'newsletter'],
  ['outlook', 'newsletter'],
  ['owa', 'newsletter'],
  ['search', 'website'],
  ['suche', 'website'],
  ['buscador', 'website'],
  ['busca', 'website'],
  ['pesquisa', 'website'],
  ['szukaj', 'website'],
  ['recherche', 'website'],
  ['mastodon', 'mastodon'],
  ['mstdn', 'mastodon'],
  ['lemmy', 'lemmy'],
];
