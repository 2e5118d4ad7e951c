"""Numbers for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

MEDIA = CONTENT_TYPE_LATEST


class Metrics:
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "holdfast_requests",
            "Requests by route and answer",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "holdfast_request_seconds",
            "How long requests took",
            ("route",),
            buckets=(0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
            registry=self._registry,
        )
        self._missed = Counter(
            "holdfast_trail_missed", "Requests that are not on the trail", registry=self._registry
        )
        self._listeners = Gauge(
            "holdfast_event_listeners", "Who listens to live events", registry=self._registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        known = method if method in ("GET", "POST", "PUT", "DELETE", "HEAD") else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def trail_missed(self) -> None:
        self._missed.inc()

    def listening(self, change: int) -> None:
        self._listeners.inc(change)

    def text(self) -> bytes:
        return generate_latest(self._registry)
