"""The passes, one a file: from graph to graph, or from block to block."""
