"""The dashboard: plain files, served as they are in the package, and the names of kinds of facts.

All who reach the service may load the page; what it shows comes from the API, which asks who
is calling. Must not build, change or fetch anything.
"""

import json
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from holdfast.server.problems import NotFound
from holdfast.state.model import KINDS

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


def is_dashboard_path(path: str) -> bool:
    return path in ("/", ASSETS_PREFIX.rstrip("/")) or path.startswith(ASSETS_PREFIX)


_PAGE = Path(__file__).parent / "page"
# Some 100 kB, read once: what is served is what was there at the start.
_ASSETS = {file.relative_to(_PAGE).as_posix(): file.read_bytes() for file in _PAGE.rglob("*.*")}
_KIND_NAMES = {name: (kind.one, kind.many) for name, kind in KINDS.items()}
_ASSETS["kinds.js"] = f"export const KINDS = {json.dumps(_KIND_NAMES)};".encode()


@router.api_route("/", methods=["GET", "HEAD"])
async def get_index() -> Response:
    return _asset_response("index.html")


@router.get("/dashboard")
@router.get("/dashboard/")
async def redirect_to_index(request: Request) -> Response:
    # Relative, for a proxy that serves this below a path of its own.
    return RedirectResponse("../" if request.url.path.endswith("/") else "./")


@router.get(ASSETS_PREFIX + "{name:path}")
async def get_asset(name: str) -> Response:
    if name not in _ASSETS or name == "index.html":
        raise NotFound("No such dashboard file")
    return _asset_response(name)


def _asset_response(name: str) -> Response:
    media = _MEDIA_TYPES[Path(name).suffix]
    return Response(_ASSETS[name], media_type=f"{media}; charset=utf-8")
