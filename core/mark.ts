// Browsers run this file too.

/** Hoplog's mark as a picture: two hops from a link to its destination, on the accent. */
const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#157343"/><path d="M4.6 16.2C5.6 8.4 10.6 8.4 11.8 15.4C12.6 11.4 15.2 11.4 16.2 14" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/><circle cx="18.4" cy="16.4" r="1.8" fill="#fff"/></svg>`;

/** The mark as an address, for pages' `link rel="icon"` and images. It is safe in HTML, and takes no request. */
export const MARK_URL = `data:image/svg+xml,${encodeURIComponent(MARK)}`;
