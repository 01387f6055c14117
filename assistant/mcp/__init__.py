"""The Model Context Protocol: a user's memory as tools, over stdio and over HTTP. The only importer
of its SDK, which the extra `mcp` installs."""
