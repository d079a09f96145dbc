/**
 * The domain of a draft that names the deployment's own. Apart from the draft, which the list of links does without.
 */
export const OWN_HOST = 'none';
