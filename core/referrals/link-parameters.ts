/** Query parameters of pages that name a referrer, unless a program says otherwise. */
export const LINK_PARAMETERS = ['ref', 'via'] as const;
