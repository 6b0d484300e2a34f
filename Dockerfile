# Facade and origin in one image: without arguments it runs the facade, with `origin` the origin alone.
# Node 24 contains SQLite, so the optional package for older releases is left out.
# A release names it by its digest: docs/operations.md.
ARG NODE=node:24-bookworm-slim

FROM ${NODE} AS build
WORKDIR /app
COPY package.json package-lock.json build.mjs ./
RUN npm ci --ignore-scripts
COPY src src
COPY graphiql graphiql
RUN node build.mjs && node build.mjs src/facade.ts

FROM ${NODE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM ${NODE}
# npm and yarn are removed too, because nothing is installed in a running container.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
  && mkdir -m 775 /data && chown node:root /data
WORKDIR /app
COPY package.json LICENSE ./
COPY deploy/health.mjs health.mjs
COPY demo demo
COPY operations operations
COPY welcome welcome
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 ORIGIN_PORT=4001 DATA_DIR=/data
VOLUME /data
EXPOSE 4000 4001
# /health says that the process responds. Load balancers ask /ready whether it accepts work. The first start of an origin fills its database.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 CMD ["node", "health.mjs"]
ENTRYPOINT ["node", "--enable-source-maps", "--max-semi-space-size=32", "--no-allocation-site-pretenuring", "dist/main.js"]
