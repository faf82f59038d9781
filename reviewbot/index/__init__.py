"""Facts of the whole repository, by content hash: definitions, callers, fields, log formats, CI lists."""
