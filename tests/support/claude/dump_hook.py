"""A hook command that writes down what it was given: `dump_hook.py FOLDER [SAY]`.

Standard library only: it is run by the client, once per event. FOLDER/NNN-Event.json gets
stdin; SAY, if given, is a JSON file from event name to the text to print for it
(key `Event` or `Event:source/trigger`).
"""

import json
import os
import sys
import time


def main() -> None:
    folder = sys.argv[1]
    raw = sys.stdin.read()
    payload = json.loads(raw)
    event = payload["hook_event_name"]
    names = [name for name in os.environ if name.startswith("CLAUDE") and "TOKEN" not in name]
    kept = {name: os.environ[name] for name in names}
    record = {"payload": payload, "env": kept, "argv": sys.argv, "time": time.time()}
    # Hooks of one event run in parallel: the clock orders them, the pid keeps names apart.
    name = os.path.join(folder, f"{time.time_ns()}-{os.getpid()}-{event}.json")
    with open(name + ".part", "w") as out:
        json.dump(record, out)
    os.rename(name + ".part", name)
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as source:
            say = json.load(source)
        detail = payload.get("source") or payload.get("trigger") or ""
        words = say.get(f"{event}:{detail}", say.get(event))
        if words is not None:
            sys.stdout.write(words)


main()
