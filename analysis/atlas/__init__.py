"""The data of the kernel atlas, a page of the site. `make docs` writes it."""
