/** The contents of the sample shop, as bodies of the API's calls. */

/** The name of its workspace, and the site that its links lead to. */
export const SAMPLE_NAME = 'Sample shop';
export const SAMPLE_SITE = 'sample-shop.example';
/** Its own domain for short links. It is only shown: no name below `.example` has records. */
export const SAMPLE_DOMAIN = 'go.sample-shop.example';

const page = (path: string) => `https://${SAMPLE_SITE}/${path}`;

/** A link, with its share of all clicks and of the buyers. */
export type SampleLink = {
  slug: string;
  name: string;
  channel: string;
  path: string;
  folder?: string;
  tags: readonly string[];
  weight: number;
  /** Orders per 1,000 clicks. */
  buyers: number;
  /** Further fields of `POST /links`. */
  more?: object;
};

export const SAMPLE_FOLDERS = ['Autumn campaign', 'Always on'] as const;
const [AUTUMN, ALWAYS] = SAMPLE_FOLDERS;

/** The twelve links. Their slugs begin with `sample-`, which leaves the short ones to real links. */
export const SAMPLE_LINKS: readonly [SampleLink, ...SampleLink[]] = [
  {
    slug: 'sample-autumn',
    name: 'Autumn sale',
    channel: 'instagram',
    path: 'autumn',
    folder: AUTUMN,
    tags: ['sale', 'autumn'],
    weight: 26,
    buyers: 24,
  },
  {
    slug: 'sample-letter',
    name: 'November newsletter',
    channel: 'newsletter',
    path: 'autumn',
    folder: AUTUMN,
    tags: ['newsletter'],
    weight: 18,
    buyers: 52,
    more: { utm_medium: 'email' },
  },
  {
    slug: 'sample-unboxing',
    name: 'Teapot unboxing',
    channel: 'youtube',
    path: 'teapots',
    folder: ALWAYS,
    tags: ['video'],
    weight: 13,
    buyers: 16,
  },
  {
    slug: 'sample-checkout',
    name: 'Checkout test',
    channel: 'facebook',
    path: 'bundle',
    folder: AUTUMN,
    tags: ['sale', 'test'],
    weight: 11,
    buyers: 28,
    more: {
      split: [
        { id: 'short', destination_url: page('bundle/short'), weight: 50 },
        { id: 'long', destination_url: page('bundle/long'), weight: 50 },
      ],
    },
  },
  {
    slug: 'sample-tea',
    name: 'Tea guide',
    channel: 'pinterest',
    path: 'guide',
    folder: ALWAYS,
    tags: ['guide'],
    weight: 8,
    buyers: 9,
  },
  {
    slug: 'sample-local',
    name: 'Shop near you',
    channel: 'telegram',
    path: 'stores',
    folder: ALWAYS,
    tags: ['stores'],
    weight: 7,
    buyers: 12,
    more: {
      rules: [
        {
          id: 'alps',
          name: 'Austria and Switzerland',
          conditions: [{ type: 'country', operator: 'is', values: ['AT', 'CH'] }],
          destination_url: page('stores/alps'),
        },
        {
          id: 'phone',
          name: 'iPhones open the app',
          conditions: [{ type: 'os', operator: 'is', values: ['iOS'] }],
          destination_url: page('app'),
        },
      ],
    },
  },
  {
    slug: 'sample-clip',
    name: 'Thirty-second brew',
    channel: 'tiktok',
    path: 'brew',
    folder: AUTUMN,
    tags: ['video', 'autumn'],
    weight: 6,
    buyers: 11,
  },
  {
    slug: 'sample-poster',
    name: 'Poster in Berlin',
    channel: 'other',
    path: 'stores/berlin',
    folder: AUTUMN,
    tags: ['print', 'autumn'],
    weight: 4,
    buyers: 14,
  },
  {
    slug: 'sample-gifts',
    name: 'Gift guide',
    channel: 'instagram',
    path: 'gifts',
    folder: ALWAYS,
    tags: ['guide', 'gifts'],
    weight: 3,
    buyers: 31,
  },
  {
    slug: 'sample-thread',
    name: 'How we pack',
    channel: 'twitter',
    path: 'packing',
    folder: ALWAYS,
    tags: ['story'],
    weight: 2,
    buyers: 5,
  },
  {
    slug: 'sample-jobs',
    name: 'We are hiring',
    channel: 'linkedin',
    path: 'jobs',
    folder: ALWAYS,
    tags: ['jobs'],
    weight: 1.4,
    buyers: 0,
  },
  {
    slug: 'sample-box',
    name: 'Card in the box',
    channel: 'other',
    path: 'again',
    folder: ALWAYS,
    tags: ['print'],
    weight: 1.2,
    buyers: 60,
  },
];

/** Returns the body of `POST /links` for a link. */
export const linkBody = ({ slug, name, channel, path, tags, more }: SampleLink, folderId: string | null) => ({
  slug,
  name,
  channel,
  destination_url: page(path),
  tags,
  ...(folderId !== null && { folder_id: folderId }),
  ...more,
});

/** The body of `POST /bio-pages`. */
export const SAMPLE_BIO_PAGE = {
  slug: 'sample-shop',
  title: SAMPLE_NAME,
  bio: 'Tea, pots, and what goes with them. Roasted in small batches.',
  links: [
    { id: 'autumn', label: 'Autumn sale', url: page('autumn'), emoji: '🍂' },
    { id: 'guide', label: 'Which tea for me?', url: page('guide'), emoji: '🍵' },
    { id: 'stores', label: 'Our stores', url: page('stores'), emoji: '📍' },
  ],
  social_links: [
    { platform: 'instagram', url: 'https://instagram.com/sample-shop' },
    { platform: 'email', url: `hello@${SAMPLE_SITE}` },
  ],
  is_published: true,
};

/** What the chart names, by day of the history. */
export const SAMPLE_ANNOTATIONS = [
  { day: 24, text: 'Newsletter: autumn teas' },
  { day: 38, text: 'Autumn sale began' },
  { day: 52, text: 'Newsletter: gifts' },
] as const;

/** The body of `POST /programs`. */
export const SAMPLE_PROGRAM = {
  name: 'Friends of the shop',
  destination_url: page('join'),
  code: 'sample-friends',
  commission_type: 'percent',
  commission_rate: 20,
  commission_months: 12,
  hold_days: 14,
  payout_methods: ['paypal', 'wise'],
  min_payout: 25,
};

/** The referrers, with how many customers each brought. */
export const SAMPLE_REFERRERS = [
  ['mara', 'Mara Lindt', 9],
  ['theo', 'Theo Brandt', 6],
  ['ines', 'Ines Costa', 4],
  ['sam', 'Sam Okafor', 3],
  ['yuki', 'Yuki Mori', 2],
  ['noor', 'Noor Haddad', 1],
  ['lea', 'Lea Novak', 0],
] as const;

/** Appends the ending that distinguishes two sample shops of one deployment to a slug. */
export const withEnd = (slug: string, end: string): string => (end === '' ? slug : `${slug}-${end}`);
