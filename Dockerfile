# One image for every process of cluster mode: the command names the process (docker-compose.yml).
# deploy/images.env pins the digest of the base.

ARG NODE_IMAGE=node:22.23.3-bookworm-slim

# Optional packages stay: native bindings are optional packages of their own. No install script is needed.
FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# What browsers load. The console has the pure parts of core.
FROM packages AS web
COPY core core
COPY web web
RUN node --disable-warning=ExperimentalWarning web/build.ts

# Each program as one file, and the packages that these files import; loads them once.
FROM packages AS programs
COPY core core
COPY sql sql
COPY clickhouse clickhouse
COPY analytics analytics
COPY ingest ingest
COPY workers workers
COPY api api
COPY cli cli
COPY sdk/typescript/src sdk/typescript/src
RUN node --disable-warning=ExperimentalWarning cli/programs/build.ts \
    && node --disable-warning=ExperimentalWarning cli/programs/assemble.ts /runtime

# The documentation: its reference comes from the schemas of the API.
FROM programs AS docs
COPY web web
COPY docs docs
RUN node --disable-warning=ExperimentalWarning web/docs/build.ts

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    NODE_OPTIONS=--disable-warning=ExperimentalWarning \
    DATA_DIR=/data \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    HOST=:: \
    METRICS_HOST=::
WORKDIR /app
COPY --from=programs /runtime/node_modules node_modules
COPY --from=web /app/web/dist web/dist
COPY --from=docs /app/web/dist/docs web/dist/docs
COPY --from=programs /runtime/dist dist
# What programs read beside themselves.
COPY core/events/schemas core/events/schemas
COPY sql/migrations sql/migrations
COPY clickhouse/migrations clickhouse/migrations
COPY package.json LICENSE NOTICE ./
# `hoplog` for operators; the directory that a new volume takes its owner from.
RUN ln -s /app/dist/hoplog.js /usr/local/bin/hoplog \
    && install -d -o 1000 -g 1000 -m 0700 /data
# The user `node` by number: Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000 8080 9464
# Ready, by the tier that the container runs. A first start waits for migrations.
HEALTHCHECK --interval=5s --timeout=5s --retries=6 --start-period=180s CMD ["node", "dist/health.js"]
LABEL org.opencontainers.image.title="Hoplog" \
    org.opencontainers.image.description="Self-hosted click pipeline and referral platform" \
    org.opencontainers.image.source="https://github.com/hoplog/hoplog" \
    org.opencontainers.image.licenses="Apache-2.0"
# The base's: a command that is no program of its own is a file or a flag for Node.js.
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["--single-threaded-gc", "dist/ingest.js"]
