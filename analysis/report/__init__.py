"""The pages and pictures of reports/, generated from kernels and from one file of recorded measurements."""
