"""The atlas of kernels: its data, for the page of the site that shows them. `make docs` writes it."""
