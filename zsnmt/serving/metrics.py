"""What the server counts of itself, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


class Metrics:
    """Counters of one server, in a registry of its own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self.requests = Counter(
            "zsnmt_requests", "Requests by path and status", ["path", "status"], registry=registry
        )
        self.seconds = Histogram(
            "zsnmt_request_seconds", "Seconds until the answer, by path", ["path"], registry=registry
        )
        self.lines = Counter("zsnmt_lines", "Lines translated, by system", ["system"], registry=registry)
        self.batches = Histogram(
            "zsnmt_batch_lines",
            "Lines translated together, by system",
            ["system"],
            registry=registry,
            buckets=BATCH_SIZES,
        )
        self.work = Counter(
            "zsnmt_translation_seconds", "Seconds of translation, by system", ["system"], registry=registry
        )
        self.queue = Gauge("zsnmt_queue_lines", "Lines that wait or are being translated", registry=registry)

    def text(self) -> bytes:
        """All of them as Prometheus reads them."""
        return generate_latest(self.registry)
