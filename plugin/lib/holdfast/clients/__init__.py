"""The coding agents we read: the only code that knows a vendor's format."""
