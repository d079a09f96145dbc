import { type Attempts, OWN, URL_OF_OWN } from './attempt.ts';
import { SECRET_NAME } from './victim.ts';

/** Attempts at links, folders, domains and bio pages. */
export const LINK_ATTEMPTS: Attempts = {
  'GET /api/v1/links': (victim) => [
    { path: '/links?days=365', status: 200 },
    { path: `/links?ids=${victim.link}&include=settings`, status: 200 },
    { path: '/links?view=records', status: 200 },
    { path: `/links?view=records&destination_id=${victim.destination}`, status: 200 },
    { path: `/links?view=records&external_id=${victim.externalId}`, status: 200 },
    { path: `/links?view=records&slug=${victim.slug}`, status: 200 },
  ],
  'POST /api/v1/links': (victim) => [
    { path: '/links', body: { destination_id: victim.destination, channel: 'slack' }, status: 404 },
    { path: '/links', body: { ...OWN, folder_id: victim.folder }, status: 404 },
    { path: '/links', body: { ...OWN, slug: victim.slug.toUpperCase() }, status: 409 },
    { path: '/links', body: { ...OWN, domain: victim.domainName }, status: 400 },
    { path: '/links', body: { ...OWN, external_id: victim.externalId }, status: 201 },
  ],
  'POST /api/v1/links/bulk': (victim) => [
    {
      path: '/links/bulk',
      body: { links: [{ destination_id: victim.destination, channel: 'slack' }] },
      status: 200,
    },
  ],
  'PATCH /api/v1/links/bulk': (victim) => [
    { path: '/links/bulk', body: { ids: [victim.link], set: { max_clicks: 1 } }, status: 200 },
  ],
  'DELETE /api/v1/links/bulk': (victim) => [
    { path: '/links/bulk', body: { ids: [victim.link] }, status: 200 },
  ],
  'POST /api/v1/links/import': (victim) => [
    {
      path: '/links/import',
      body: { text: `destination_id,channel\n${victim.destination},slack` },
      status: 200,
    },
    {
      path: '/links/import',
      body: {
        text: `destination_url,name,slug,external_id,folder_id\n${URL_OF_OWN},Own,${victim.slug},,\n${URL_OF_OWN},Own,,own-import,${victim.folder}`,
      },
      status: 200,
    },
  ],
  'GET /api/v1/links/search': (victim) => [
    { path: `/links/search?sort=clicks&days=365`, status: 200 },
    { path: `/links/search?q=${victim.slug}`, status: 200 },
    { path: `/links/search?ids=${victim.link}`, status: 200 },
    { path: `/links/search?folder_id=${victim.folder}`, status: 200 },
    { path: `/links/search?tag=${SECRET_NAME}`, status: 200 },
  ],
  'GET /api/v1/links/tags': () => [{ path: '/links/tags', status: 200 }],
  'GET /api/v1/links/{id}': (victim) => [{ path: `/links/${victim.link}`, status: 404 }],
  'GET /api/v1/links/{id}/qr': (victim) => [{ path: `/links/${victim.link}/qr`, status: 404 }],
  'GET /api/v1/links/{id}/qr/style': (victim) => [{ path: `/links/${victim.link}/qr/style`, status: 404 }],
  'PATCH /api/v1/links/{id}/qr/style': (victim) => [
    { path: `/links/${victim.link}/qr/style`, body: { frame: 'line' }, status: 404 },
  ],
  'GET /api/v1/links/{id}/comments': (victim) => [{ path: `/links/${victim.link}/comments`, status: 404 }],
  'POST /api/v1/links/{id}/comments': (victim) => [
    { path: `/links/${victim.link}/comments`, body: { text: 'Mine' }, status: 404 },
  ],
  'DELETE /api/v1/links/{id}/comments/{comment_id}': (victim) => [
    { path: `/links/${victim.link}/comments/${victim.comment}`, status: 404 },
  ],
  'GET /api/v1/links/destination-pages': (victim) => [
    { path: `/links/destination-pages?ids=${victim.link}`, status: 200, as: 'member' },
  ],
  'GET /api/v1/links/destination-icons/{id}': (victim) => [
    { path: `/links/destination-icons/${victim.icon}`, status: 404, as: 'member' },
  ],
  'PATCH /api/v1/links/{id}': (victim) => [
    { path: `/links/${victim.link}`, body: { name: 'Stolen', slug: 'stolen' }, status: 404 },
  ],
  'DELETE /api/v1/links/{id}': (victim) => [{ path: `/links/${victim.link}`, status: 404 }],
  'GET /api/v1/domains': () => [{ path: '/domains', status: 200 }],
  'POST /api/v1/domains': () => [{ path: '/domains', body: { domain: 'own.example.com' }, status: 201 }],
  'GET /api/v1/domains/{id}': (victim) => [{ path: `/domains/${victim.domain}`, status: 404 }],
  'PATCH /api/v1/domains/{id}': (victim) => [
    { path: `/domains/${victim.domain}`, body: { is_default: true }, status: 404 },
    { path: `/domains/${victim.domain}`, body: { root_url: URL_OF_OWN }, status: 404 },
  ],
  'POST /api/v1/domains/{id}/verify': (victim) => [
    { path: `/domains/${victim.domain}/verify`, body: {}, status: 404 },
  ],
  'DELETE /api/v1/domains/{id}': (victim) => [
    { path: `/domains/${victim.domain}`, status: 404 },
    { path: `/domains/${victim.domain}?links=delete`, status: 404 },
  ],
  'GET /api/v1/folders': () => [{ path: '/folders', status: 200 }],
  'POST /api/v1/folders': () => [{ path: '/folders', body: { name: 'Own' }, status: 201 }],
  'PATCH /api/v1/folders/{id}': (victim) => [
    { path: `/folders/${victim.folder}`, body: { name: 'Stolen' }, status: 404 },
    { path: `/folders/${victim.folder}`, body: {}, status: 404 },
  ],
  'DELETE /api/v1/folders/{id}': (victim) => [{ path: `/folders/${victim.folder}`, status: 404 }],
  'GET /api/v1/utm-templates': () => [{ path: '/utm-templates', status: 200 }],
  'POST /api/v1/utm-templates': () => [
    { path: '/utm-templates', body: { name: 'Own', utm_source: 'own' }, status: 201 },
  ],
  'DELETE /api/v1/utm-templates/{id}': (victim) => [
    { path: `/utm-templates/${victim.utmTemplate}`, status: 404 },
  ],
  'GET /api/v1/bio-pages': (victim) => [
    { path: '/bio-pages', status: 200 },
    { path: `/bio-pages?external_id=${victim.externalId}`, status: 200 },
  ],
  'POST /api/v1/bio-pages': (victim) => [
    { path: '/bio-pages', body: { slug: victim.bioSlug.toUpperCase() }, status: 409 },
    { path: '/bio-pages', body: { slug: 'own-page', external_id: victim.externalId }, status: 201 },
  ],
  'GET /api/v1/bio-pages/availability': (victim) => [
    { path: `/bio-pages/availability?slug=${victim.bioSlug}`, status: 200 },
  ],
  'POST /api/v1/bio-pages/pictures': () => [{ path: '/bio-pages/pictures', body: { a: 1 }, status: 400 }],
  'POST /api/v1/bio-pages/preview': (victim) => [
    {
      path: '/bio-pages/preview',
      body: { slug: victim.bioSlug, links: [{ id: 'same', url: URL_OF_OWN }] },
      status: 200,
    },
  ],
  'GET /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, status: 404 },
  ],
  'PATCH /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, body: { title: 'Stolen', links: [] }, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, body: { title: 'Stolen', links: [] }, status: 404 },
  ],
  'DELETE /api/v1/bio-pages/{id}': (victim) => [
    { path: `/bio-pages/${victim.bioPage}`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}`, status: 404 },
  ],
  'GET /api/v1/bio-pages/{id}/stats': (victim) => [
    { path: `/bio-pages/${victim.bioPage}/stats`, status: 404 },
    { path: `/bio-pages/${victim.bioSlug}/stats?days=365`, status: 404 },
  ],
};
