"""Commands and skills in force: what their files say, and how it is put back. Pure."""
