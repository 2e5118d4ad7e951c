"""Recall: what is known, found again. For the agent (MCP), the plugin's commands, and people.

`answers` says what each question gets, within a budget; `account` tells what was saved and
restored; `plain` is a command line of the standard library alone, which the plugin carries;
`server` is the MCP server, with the official SDK.
"""
