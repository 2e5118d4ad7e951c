"""Choosing under a hard budget: what earns most per character goes in first.

A symbol needs the line of a file to stand on, and a file may need the line of its folder, so
the price of a thing depends on what is already chosen. Greedy by value per character, with
prices looked up again when an entry comes to the top.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from holdfast.brief.paths import split


class FileOffer(NamedTuple):
    path: str
    section: str
    value: float


class SymbolOffer(NamedTuple):
    symbol: str
    paths: tuple[str, ...]  # where it may stand, best first
    value: float


class LineOffer(NamedTuple):
    """A whole line of its own, such as a command."""

    section: str
    text: str
    value: float


class Chosen:
    """What was chosen, and what it costs in characters once it is rendered."""

    def __init__(self, headings: dict[str, str], names: dict[str, str]) -> None:
        self.headings = headings
        self.names = names  # paths that are written by a shorter name, without their folder
        self.files: dict[str, str] = {}  # path -> section
        self.symbols: dict[str, list[str]] = {}  # path -> symbols
        self.lines: dict[str, list[str]] = {}  # section -> lines
        self.cost = 0
        self._folders: dict[tuple[str, str], int] = {}
        self._sections: set[str] = set()

    def heading_cost(self, section: str) -> int:
        return 0 if section in self._sections else len(self.headings[section]) + 1

    def file_cost(self, path: str, section: str) -> int:
        if path in self.names:
            return len(self.names[path]) + 1 + self.heading_cost(section)
        folder, name = split(path)
        beside = self._folders.get((section, folder), 0)
        if not folder or not beside:
            return len(path) + 1 + self.heading_cost(section)  # alone, on one line
        # Under its folder, after a space; the second file moves the first one there too.
        return len(name) + 2 + (2 if beside == 1 else 0)

    def add_file(self, path: str, section: str) -> None:
        self.cost += self.file_cost(path, section)
        self._sections.add(section)
        place = (section, split(path)[0])
        self._folders[place] = self._folders.get(place, 0) + 1
        self.files[path] = section

    def symbol_cost(self, symbol: str, path: str) -> int:
        return len(symbol) + 2 - (path in self.symbols)  # ": " before the first, " " before others

    def add_symbol(self, symbol: str, path: str) -> None:
        self.cost += self.symbol_cost(symbol, path)
        self.symbols.setdefault(path, []).append(symbol)

    def line_cost(self, offer: LineOffer) -> int:
        return len(offer.text) + 1 + self.heading_cost(offer.section)

    def add_line(self, offer: LineOffer) -> None:
        self.cost += self.line_cost(offer)
        self._sections.add(offer.section)
        self.lines.setdefault(offer.section, []).append(offer.text)


def choose(
    files: list[FileOffer],
    symbols: list[SymbolOffer],
    lines: list[LineOffer],
    budget: int,
    headings: dict[str, str],
    floor: float,
    names: dict[str, str],
) -> Chosen:
    """The best use of `budget` characters; offers worth less than `floor` are left out."""
    chosen = Chosen(headings, names)
    offered = {offer.path: offer for offer in files}
    heap: list[tuple[float, int, FileOffer | SymbolOffer | LineOffer]] = []

    def density(offer: FileOffer | SymbolOffer | LineOffer) -> tuple[float, int]:
        if isinstance(offer, FileOffer):
            cost = chosen.file_cost(offer.path, offer.section)
            return offer.value / cost, cost
        if isinstance(offer, LineOffer):
            cost = chosen.line_cost(offer)
            return offer.value / cost, cost
        path = place(offer)
        cost, value = chosen.symbol_cost(offer.symbol, path), offer.value
        if path not in chosen.files:
            file = offered[path]
            cost += chosen.file_cost(file.path, file.section)
            value += file.value
        return value / cost, cost

    def place(offer: SymbolOffer) -> str:
        """A line that is there already costs nothing; else the likeliest file's."""
        return next((path for path in offer.paths if path in chosen.files), offer.paths[0])

    offers: list[FileOffer | SymbolOffer | LineOffer] = [*files, *symbols, *lines]
    for number, offer in enumerate(offers):
        if offer.value >= floor:
            heap.append((-density(offer)[0], number, offer))
    heapq.heapify(heap)
    while heap:
        known, number, offer = heapq.heappop(heap)
        if isinstance(offer, FileOffer) and offer.path in chosen.files:
            continue
        worth, cost = density(offer)
        if heap and worth < -heap[0][0] - 1e-12 and worth != -known:
            heapq.heappush(heap, (-worth, number, offer))
            continue
        if chosen.cost + cost > budget:
            continue
        if isinstance(offer, FileOffer):
            chosen.add_file(offer.path, offer.section)
        elif isinstance(offer, LineOffer):
            chosen.add_line(offer)
        else:
            path = place(offer)
            if path not in chosen.files:
                chosen.add_file(path, offered[path].section)
            chosen.add_symbol(offer.symbol, path)
    return chosen
