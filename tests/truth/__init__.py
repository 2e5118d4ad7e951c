"""What an agent is told, compared with what is so: real shells, git and runners, wired hooks."""
