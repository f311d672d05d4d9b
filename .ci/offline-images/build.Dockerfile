# A base to build on, on top of the Debian that make.sh unpacks: Node, pnpm and the packages of this lockfile.
ARG DEBIAN=course-exchange-offline/debian:bookworm
FROM ${DEBIAN}
COPY node/node /usr/local/bin/node
COPY pnpm/lib/ /usr/local/lib/
RUN ln -s ../lib/node_modules/pnpm/bin/pnpm.mjs /usr/local/bin/pnpm && chmod 755 /usr/local/lib/node_modules/pnpm/bin/pnpm.mjs
COPY store/ /pnpm-store/
# Says which packages the store holds, so that a build knows when it has grown old.
ARG LOCKFILE
LABEL course-exchange.lockfile=${LOCKFILE}
