# Postgres as its official image behaves (variables, folders, accounts), so that the same Compose file and tests
# serve both. On top of the Debian that make.sh unpacks.
ARG DEBIAN=course-exchange-offline/debian:bookworm
FROM ${DEBIAN}
RUN groupadd --system --gid 999 postgres && useradd --system --uid 999 --gid 999 --home-dir /var/lib/postgresql postgres \
 && mkdir -p /var/lib/postgresql /var/run/postgresql /docker-entrypoint-initdb.d \
 && chown -R 999:999 /var/lib/postgresql /var/run/postgresql
COPY postgres/ /usr/lib/postgresql/18/
COPY postgres-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PATH=/usr/lib/postgresql/18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["bash", "/usr/local/bin/docker-entrypoint.sh"]
CMD ["postgres"]
