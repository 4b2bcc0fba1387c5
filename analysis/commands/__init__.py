"""The subcommands of `setwise`, one a file; the parser, errors and exit statuses are in main."""
