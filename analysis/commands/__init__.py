"""The subcommands of `setwise`, one a module. The parser is in `parser`, errors and exit statuses are in `main`."""
