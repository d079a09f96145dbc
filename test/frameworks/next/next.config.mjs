import { fileURLToPath } from 'node:url';

export default {
  output: 'export',
  trailingSlash: true,
  turbopack: { root: fileURLToPath(new URL('..', import.meta.url)) },
};
