export default defineNuxtConfig({
  app: {
    baseURL: '/nuxt/',
    head: { title: 'Shop', script: [{ src: '/pixel.js?key=pk_live_frameworks', async: true }] },
  },
  telemetry: false,
  // With a base, Nuxt 4.4.5 fails to store the payload of `/`.
  experimental: { payloadExtraction: false },
});
