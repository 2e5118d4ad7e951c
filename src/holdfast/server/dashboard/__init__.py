"""The dashboard: plain files, served as they are in the package. It knows nothing of the data.

Whoever reaches the service may load the page; what it shows comes from the API, which asks who
is calling. Must not build, change or fetch anything.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from holdfast.server.problems import NotFound

router = APIRouter(include_in_schema=False)

ASSETS_PREFIX = "/dashboard/"
# Scripts and styles of ours and nothing else; no page may stand around it; and a script that
# would turn text into markup is stopped by the browser.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


class Asset(NamedTuple):
    body: bytes
    media: str


def is_dashboard_path(path: str) -> bool:
    return path in ("/", ASSETS_PREFIX.rstrip("/")) or path.startswith(ASSETS_PREFIX)


def _load_assets(folder: Traversable, under: str = "") -> dict[str, Asset]:
    found: dict[str, Asset] = {}
    for one in folder.iterdir():
        name = under + one.name
        if one.is_dir():
            found.update(_load_assets(one, f"{name}/"))
        else:
            found[name] = Asset(one.read_bytes(), _MEDIA_TYPES[one.name[one.name.rindex(".") :]])
    return found


# Some 100 kB, read once: what is served is what was there at the start.
_ASSETS = _load_assets(files(__name__) / "page")


@router.api_route("/", methods=["GET", "HEAD"])
async def get_index() -> Response:
    return _answer(_ASSETS["index.html"])


@router.get("/dashboard")
@router.get("/dashboard/")
async def redirect_to_index(request: Request) -> Response:
    # Relative, for a proxy that serves this below a path of its own.
    return RedirectResponse("../" if request.url.path.endswith("/") else "./")


@router.get(ASSETS_PREFIX + "{name:path}")
async def get_asset(name: str) -> Response:
    found = _ASSETS.get(name)
    if found is None or name == "index.html":
        raise NotFound("No such dashboard file")
    return _answer(found)


def _answer(file: Asset) -> Response:
    return Response(file.body, media_type=f"{file.media}; charset=utf-8")
