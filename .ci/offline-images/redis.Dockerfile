# Redis as its official image behaves (folder, account, arguments). On top of the Debian that make.sh unpacks.
ARG DEBIAN=course-exchange-offline/debian:bookworm
FROM ${DEBIAN}
RUN usermod --uid 999 redis && groupmod --gid 999 redis && mkdir -p /data && chown 999:999 /data
WORKDIR /data
VOLUME /data
USER 999:999
EXPOSE 6379
CMD ["redis-server", "--protected-mode", "no"]
