# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

# Optional peers, in the tested versions; their own dependencies come from the registry.
FROM node:24-slim AS optional
WORKDIR /optional
RUN npm install --no-fund --no-audit --ignore-scripts \
    pg@8.23.1 \
    pg-boss@12.35.0

# Speaks MCP over stdio, as catalogues of MCP servers expect: docker run -i --rm …
FROM node:24-slim AS stdio
LABEL org.opencontainers.image.title="gemini-search-mcp" \
    org.opencontainers.image.description="Web research for AI assistants through Google Gemini, as an MCP server." \
    org.opencontainers.image.source="https://github.com/gemini-search-mcp/gemini-search-mcp" \
    org.opencontainers.image.version="0.2.0" \
    org.opencontainers.image.licenses="MIT" \
    io.modelcontextprotocol.server.name="io.github.gemini-search-mcp/gemini-search-mcp"
ENV NODE_ENV=production \
    GEMINI_SEARCH_CONFIG_DIR=/data \
    MCP_SERVER_HOST=0.0.0.0 \
    MCP_SERVER_PORT=3000
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/bin bin
COPY --from=build /build/dist dist
COPY --from=build /build/prompts prompts
COPY --from=build /build/templates templates
COPY --from=optional /optional/node_modules node_modules
# A volume that is mounted here inherits its owner.
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/bin/gemini-search-mcp.js"]

FROM stdio
EXPOSE 3000
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.MCP_SERVER_PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["serve"]
