"""Which project a folder is, as all machines of a team would say it.

    the name that the user gave it          shop
    the remote `origin` of its repository   github.com/acme/shop
    else its path on its machine            laptop-3f2a9c:/home/me/app

The local store goes on to know projects by their folders; this is for what leaves the machine.
A remote's user, password and query never do. Reads `.git/config` itself: no subprocess.
"""

import os
import re
import uuid

from holdfast.files import read
from holdfast.records import NamedTuple

_NAMESPACE = uuid.UUID("6d6f8ba3-7a0e-5a51-9f0c-2f5f4a3c9b11")
MAX_NAME_CHARS = 500
MAX_CONFIG_BYTES = 256 * 1024
# A port that says nothing new.
_DEFAULT_PORTS = {"ssh": "22", "git": "9418", "http": "80", "https": "443"}
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
# user@host:path, where no slash comes before the colon, and the host is not a drive letter.
_SCP = re.compile(r"(?:[^/@]*@)?(\[[^\]/]+\]|[^:/@]{2,}):(.*)", re.DOTALL)
_SECTION = re.compile(r'\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=\s*(.*)", re.IGNORECASE)


class ProjectIdentity(NamedTuple):
    name: str
    # Given by the user or by the remote: true for every machine, and still to be had tomorrow.
    shared: bool


def identify_project(folder: str, *, given: str = "", machine: str = "") -> ProjectIdentity:
    """Of a project's folder (`project.locate_project`)."""
    name = _clean_name(given)
    if name:
        return ProjectIdentity(name, True)
    if not folder:
        return ProjectIdentity("", False)
    remote = normalize_remote_url(read_origin_url(folder))
    if remote:
        return ProjectIdentity(remote, True)
    return ProjectIdentity(f"{machine}:{folder}" if machine else folder, False)


def make_project_id(identity: str) -> str:
    """The id of a project at any service: everybody makes the same."""
    return str(uuid.uuid5(_NAMESPACE, identity.encode("utf-8", "replace").decode()))


def read_origin_url(folder: str) -> str:
    """The URL of the remote `origin`, "" where there is none."""
    for place in (os.path.join(folder, ".git", "config"), os.path.join(folder, "config")):
        # A bare repository is its own `.git`; any other folder may have a `config` of its own.
        if place.endswith("/.git/config") or os.path.isdir(os.path.join(folder, "objects")):
            text = (read(place, most=MAX_CONFIG_BYTES) or b"").decode("utf-8", "replace")
            found = _origin_in(text)
            if found:
                return found
    return ""


def _origin_in(text: str) -> str:
    inside, found = False, ""
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            section = _SECTION.match(line.strip())
            inside = section is not None and section[1] == "origin"
        elif inside:
            said = _URL.match(line)
            if said and not found:
                found = said[1].split(" #")[0].split(" ;")[0].strip().strip('"')
    return found


def normalize_remote_url(url: str) -> str:
    """A remote's URL as its place alone; "" for one that is a path on this machine."""
    url = "".join(url.split())
    scheme = _SCHEME.match(url)
    if scheme:
        kind, rest = scheme[1].lower(), url[scheme.end() :]
        if kind == "file":
            return ""
        before, _, after = rest.rpartition("@")
        # A password may hold a slash; a path may hold an @, and is then no secret.
        rest = after if ":" in before or "/" not in before else rest
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].lower()
        name, colon, port = host.rpartition(":")
        if colon and port == _DEFAULT_PORTS.get(kind.removeprefix("git+"), ""):
            host = name
    else:
        short = _SCP.match(url)
        if short is None:
            return ""
        host, path = short[1].lower(), short[2]
    path = re.split(r"[?#]", path)[0]
    steps = [step for step in path.split("/") if step]
    if not host or not steps:
        return ""
    steps[-1] = steps[-1].removesuffix(".git") or steps[-1]
    return _clean_name(f"{host}/{'/'.join(steps)}")


def _clean_name(name: str) -> str:
    words = "".join(c if c.isprintable() else " " for c in name)
    return " ".join(words.split())[:MAX_NAME_CHARS]
