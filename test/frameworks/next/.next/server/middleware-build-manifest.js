globalThis.__BUILD_MANIFEST = {
  "pages": {
    "/_app": []
  },
  "devFiles": [],
  "polyfillFiles": [
    "static/chunks/0cz1d0mv5g_q7.js"
  ],
  "lowPriorityFiles": [
    "static/pwNGAwr2R4S4fYhZNSAJW/_buildManifest.js",
    "static/pwNGAwr2R4S4fYhZNSAJW/_ssgManifest.js",
    "static/pwNGAwr2R4S4fYhZNSAJW/_clientMiddlewareManifest.js"
  ],
  "rootMainFiles": [
    "static/chunks/3v_59l1qr_8dp.js",
    "static/chunks/1uit7_s1bksv6.js",
    "static/chunks/39_j1bdzreq0m.js",
    "static/chunks/turbopack-2u1d16houkiyo.js"
  ],
  "rootMainFilesTree": {},
  "pagesChunkGroupBootstrapParams": {
    "/page": {
      "otherChunks": [
        "static/chunks/3v_59l1qr_8dp.js",
        "static/chunks/1uit7_s1bksv6.js",
        "static/chunks/39_j1bdzreq0m.js"
      ],
      "runtimeModuleIds": [
        94553
      ]
    },
    "/_not-found/page": {
      "otherChunks": [
        "static/chunks/3v_59l1qr_8dp.js",
        "static/chunks/1uit7_s1bksv6.js",
        "static/chunks/39_j1bdzreq0m.js"
      ],
      "runtimeModuleIds": [
        94553
      ]
    },
    "/_global-error/page": {
      "otherChunks": [
        "static/chunks/3v_59l1qr_8dp.js",
        "static/chunks/1uit7_s1bksv6.js",
        "static/chunks/39_j1bdzreq0m.js"
      ],
      "runtimeModuleIds": [
        94553
      ]
    },
    "/other/page": {
      "otherChunks": [
        "static/chunks/3v_59l1qr_8dp.js",
        "static/chunks/1uit7_s1bksv6.js",
        "static/chunks/39_j1bdzreq0m.js"
      ],
      "runtimeModuleIds": [
        94553
      ]
    }
  },
  "chunkLoadingGlobal": "TURBOPACK"
};
