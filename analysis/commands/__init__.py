"""The subcommands of `setwise`, each in the module of its name, and their parser, helpers and entry point (`main`)."""
