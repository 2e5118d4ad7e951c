"""The story of a recorded session in German: a backup script, compacted once.

Owns the words, files and replies; `record_sample` plays it. The user corrects a number, forbids a
folder and names an exact value; a tool is missing on the machine and another one does.
"""

from pathlib import Path

from .compaction_scripts import fills_the_window
from .model_replies import Reply, bash, summary, text, tool

PROJECT = {
    "README.md": "# Kasse\n\nDie Datenbank liegt in var/kasse.db.\n",
    "var/.gitkeep": "",
    ".gitignore": "*.db\nvar/backups/\n",
}

FIRST = (
    "Schreib ein Skript backup.sh, das var/kasse.db sichert. Sicherungen gehören nach "
    "var/backups, behalte die letzten sieben. Schreib niemals außerhalb von var/."
)
SECOND = (
    "Nicht sieben, sondern vierzehn: die Prüfung verlangt zwei Wochen. Der Dateiname ist "
    "kasse-JJJJMMTT.db.gz, so sucht ihn das Kassensystem."
)
THIRD = (
    "Jetzt noch die Rücksicherung: restore.sh mit dem Datum als Argument. Noch nichts committen."
)

BACKUP = """#!/bin/sh
set -eu
mkdir -p var/backups
gzip -c var/kasse.db > "var/backups/kasse-$(date +%Y%m%d).db.gz"
ls -1 var/backups/kasse-*.db.gz | head -n -7 | xargs -r rm --
"""
RESTORE = """#!/bin/sh
set -eu
gzip -dc "var/backups/kasse-$1.db.gz" > var/kasse.db.new
mv var/kasse.db.new var/kasse.db
"""

SUMMARY = """1. Primary Request and Intent:
   The user wants a backup script for a database and a script to restore it.

2. Files and Code Sections:
   - backup.sh: written. restore.sh: in the works.

3. Current Work:
   Writing restore.sh."""


def turns(root: Path) -> list[tuple[str, list[Reply]]]:
    backup, restore = str(root / "backup.sh"), str(root / "restore.sh")
    first = [
        tool("Write", file_path=backup, content=BACKUP),
        bash("shellcheck backup.sh", "Check the script"),
        bash("sh -n backup.sh", "Check the syntax"),
        bash("echo probe > var/kasse.db && sh backup.sh && ls var/backups", "Make a backup"),
        text(
            "backup.sh sichert nach var/backups und behält die letzten sieben. shellcheck fehlt "
            "auf diesem Rechner, geprüft habe ich mit sh -n."
        ),
    ]
    second = [
        tool("Edit", file_path=backup, old_string="head -n -7", new_string="head -n -14"),
        bash("sh -n backup.sh && sh backup.sh", "Make a backup"),
        text("Jetzt bleiben vierzehn, der Name ist wie verlangt."),
    ]
    third = [
        tool("TaskCreate", subject="restore.sh schreiben", description="Datum als Argument"),
        tool("TaskCreate", subject="README ergänzen", description="Sichern und zurücksichern"),
        tool("TaskUpdate", taskId="1", status="in_progress"),
        tool("Write", file_path=restore, content=RESTORE),
        bash("sh restore.sh 20240101", "Restore a day that has no backup"),
        fills_the_window(bash("git status --short", "What is uncommitted")),
        text("restore.sh lässt bei einem falschen Datum eine leere kasse.db.new liegen."),
    ]
    return [(FIRST, first), (SECOND, second), (THIRD, third)]


def summaries() -> list[Reply]:
    return [summary(SUMMARY)]
