/**
 * The `domain` of a draft on the deployment's own host. In a file of its own, because the list of links does not load
 * the draft.
 */
export const OWN_HOST = 'none';
