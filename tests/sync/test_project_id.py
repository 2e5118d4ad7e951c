"""What all machines call one project; and what never leaves a machine."""

from pathlib import Path

import pytest

from holdfast.sync.project_id import (
    identify_project,
    make_project_id,
    normalize_remote_url,
    read_origin_url,
)

SHOP = "github.com/acme/shop"


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/shop.git",
        "git@GitHub.com:acme/shop",
        "https://github.com/acme/shop.git",
        "https://github.com/acme/shop/",
        "https://github.com:443/acme/shop",
        "http://github.com:80/acme/shop.git",
        "ssh://git@github.com/acme/shop.git",
        "ssh://git@github.com:22/acme/shop.git",
        "git://github.com:9418/acme/shop.git",
        "https://me@github.com/acme/shop",
        "https://me:hunter2@github.com/acme/shop.git",
        "https://me:hun/ter2@github.com/acme/shop.git",
        "https://oauth2:glpat-abcdefghij@github.com/acme/shop.git?token=hunter2#hunter2",
        "me:hunter2@github.com:acme/shop.git",
    ],
)
def test_every_way_to_write_a_remote_is_one_name_without_credentials(url: str) -> None:
    assert normalize_remote_url(url) == SHOP


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("ssh://git@git.example:2222/acme/shop", "git.example:2222/acme/shop"),
        ("https://git.example/Acme/Shop.git", "git.example/Acme/Shop"),
        ("git@[2001:db8::1]:acme/shop.git", "[2001:db8::1]/acme/shop"),
        ("https://git.example/@scope/shop", "git.example/@scope/shop"),
        ("/srv/git/shop.git", ""),
        ("../shop.git", ""),
        ("file:///srv/git/shop.git", ""),
        ("C:\\git\\shop", ""),
        ("C:/git/shop", ""),
        ("", ""),
        ("https://github.com", ""),
    ],
)
def test_other_places_are_told_apart_and_paths_are_no_remotes(url: str, name: str) -> None:
    assert normalize_remote_url(url) == name


def repository(folder: Path, config: str) -> str:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config)
    return str(folder)


def test_the_remote_is_read_from_the_repositorys_own_file(tmp_path: Path) -> None:
    folder = repository(
        tmp_path / "app",
        '[core]\n\turl = no\n[remote "upstream"]\n\turl = git@github.com:other/shop.git\n'
        '[remote "origin"]\n\tfetch = +refs\n\turl = "git@github.com:acme/shop.git" ; ours\n'
        '[branch "main"]\n\tremote = origin\n',
    )
    assert read_origin_url(folder) == '"git@github.com:acme/shop.git"'.strip('"')
    assert identify_project(folder, machine="laptop") == (SHOP, True)


def test_a_given_name_comes_first_and_a_path_is_its_machines_own(tmp_path: Path) -> None:
    folder = repository(tmp_path / "app", '[remote "origin"]\n\turl = https://github.com/a/b\n')
    assert identify_project(folder, given=" The  shop\n", machine="laptop") == ("The shop", True)
    alone = repository(tmp_path / "alone", "[core]\n")
    here = identify_project(alone, machine="laptop-1a2b3c")
    there = identify_project(alone, machine="laptop-4d5e6f")
    assert here == (f"laptop-1a2b3c:{alone}", False)
    assert here.name != there.name
    assert make_project_id(here.name) != make_project_id(there.name)


def test_a_bare_repository_is_its_own_git_folder(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "config").write_text('[remote "origin"]\nurl=git@github.com:acme/shop.git\n')
    assert identify_project(str(tmp_path)).name == SHOP


def test_a_folder_with_some_config_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "config").write_text('[remote "origin"]\nurl=git@github.com:acme/shop.git\n')
    assert identify_project(str(tmp_path), machine="m").shared is False
