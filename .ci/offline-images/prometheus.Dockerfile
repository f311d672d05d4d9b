# Prometheus as its official image behaves (program, account), on what Node runs on: it needs no more than the C library.
ARG RUN=course-exchange-offline/run:bookworm
FROM ${RUN}
COPY prometheus /bin/prometheus
USER 65534:65534
ENTRYPOINT ["/bin/prometheus"]
